/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of the model on random threads: whatever calls are open, whatever the own cost,
 * the self times and the overhead sum to the lifetime. And its speed: time follows contexts, not
 * calls.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/builder.h"
#include "tests/unit/test.h"
#include "tools/model/model.h"

#define NS 1e-9

static struct builder builder;

static struct { uint64_t random; } state = {88172645463325252u};

static uint32_t draw(uint32_t below) {
    state.random ^= state.random << 13;
    state.random ^= state.random >> 7;
    state.random ^= state.random << 17;
    return (uint32_t)(state.random >> 33) % below;
}

static struct bp_model *read_model(void) {
    char path[] = "/tmp/battprof-unit-XXXXXX";
    struct bp_error error = {0};
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    int fd = mkstemp(path);
    CHECK_EQUAL(builder_write(&builder, path), 0);
    struct bp_model *model = bp_model_new(path, rules, &error);
    CHECK(model);
    CHECK(!error.text);
    close(fd);
    unlink(path);
    bp_rules_free(rules);
    return model;
}

/* A thread that opened and closed calls at random, as the target accounts for them. */
struct simulated {
    size_t threads;
    size_t nodes;
    size_t entries;
    uint32_t depth;
    uint32_t path[8]; /* nodes; node i + 1 is a child of i */
    uint64_t now;
};

static struct bp_entry *entry_at(struct simulated *thread, uint32_t depth) {
    if (depth > 0)
        return builder_item(&builder, thread->entries, depth - 1);
    return &((struct bp_thread *)builder_item(&builder, thread->threads, 0))->root;
}

static void open_call(struct simulated *thread) {
    uint32_t depth = ++thread->depth;
    struct bp_entry *entry = entry_at(thread, depth);
    *entry = (struct bp_entry){.start = thread->now};
    entry->parent =
        builder_address(&builder, thread->threads, 0) + offsetof(struct bp_thread, root);
    if (depth > 1)
        entry->parent = builder_address(&builder, thread->entries, depth - 2);
    entry->node = builder_address(&builder, thread->nodes, depth);
}

static void close_call(struct simulated *thread) {
    struct bp_entry *entry = entry_at(thread, thread->depth);
    struct bp_node *node = builder_item(&builder, thread->nodes, thread->depth);
    uint64_t duration = thread->now - entry->start;
    node->total += duration;
    node->self += duration - entry->child;
    node->histogram[bp_bucket(duration)]++;
    node->min = node->min && node->min < duration ? node->min : duration;
    thread->depth--;
    entry_at(thread, thread->depth)->child += duration;
}

static void simulate(struct simulated *thread, uint32_t steps) {
    thread->threads = builder_chunk(&builder, BP_THREADS, BP_NO_THREAD, 1, 1);
    thread->nodes = builder_chunk(&builder, BP_NODES, 0, 8, 8);
    thread->entries = builder_chunk(&builder, BP_ENTRIES, 0, 8, 8);
    thread->depth = 0;
    thread->now = builder_header(&builder)->start;
    for (uint32_t i = 0; i < 8; i++) {
        struct bp_node *node = builder_item(&builder, thread->nodes, i);
        node->parent = i ? i - 1 : BP_NO_NODE;
        node->func = i ? BUILDER_FUNC + i : 0;
    }
    struct bp_thread *info = builder_item(&builder, thread->threads, 0);
    info->tid = 100;
    info->state = BP_THREAD_LIVE;
    info->start = info->root.start = thread->now;
    for (uint32_t i = 0; i < steps; i++) {
        thread->now += 1 + draw(20000);
        if (thread->depth < 7 && (thread->depth == 0 || draw(2)))
            open_call(thread);
        else
            close_call(thread);
    }
    info->current =
        builder_address(&builder, thread->threads, 0) + offsetof(struct bp_thread, root);
    if (thread->depth)
        info->current = builder_address(&builder, thread->entries, thread->depth - 1);
    builder_header(&builder)->end = thread->now + draw(20000);
}

static void sums_to_the_lifetime(void) {
    for (int round = 0; round < 200; round++) {
        struct simulated thread;
        builder_init(&builder);
        builder_names(&builder);
        struct bp_header *header = builder_header(&builder);
        header->inside = draw(200000);
        header->outside = draw(200000);
        header->startup = draw(50000);
        simulate(&thread, 1 + draw(500));
        struct bp_model *model = read_model();
        header = builder_header(&builder);
        double lifetime = (double)(header->end - header->start) * NS;
        CHECK_NEAR(model->threads[0].lifetime_s, lifetime, 1e-12);
        CHECK_NEAR(model->threads[0].sum_s, lifetime, 1e-12);
        CHECK_NEAR(model->wall.total_s, lifetime, 1e-12);
        double wall = model->wall.overhead_s + model->wall.idle_s;
        for (uint32_t i = 0; i < model->function_count; i++)
            wall += model->functions[i].wall_s;
        CHECK_NEAR(wall, lifetime, 1e-9);
        CHECK_EQUAL(model->in_flight_count, thread.depth);
        for (uint32_t i = 1; i < model->context_count; i++)
            CHECK(model->contexts[i].total_s >= model->contexts[i].self_s - 1e-12);
        bp_model_free(model);
        builder_fini(&builder);
    }
}

/* Without own cost a context's total is the sum of the self times below it. */
static void totals_are_sums(void) {
    struct simulated thread;
    builder_init(&builder);
    builder_names(&builder);
    simulate(&thread, 301);
    struct bp_model *model = read_model();
    double sums[16] = {0};
    CHECK(model->context_count <= 16);
    for (uint32_t i = model->context_count; i-- > 1;) {
        sums[i] += model->contexts[i].self_s;
        CHECK_NEAR(model->contexts[i].total_s, sums[i], 1e-12);
        sums[model->contexts[i].parent] += sums[i];
    }
    bp_model_free(model);
    builder_fini(&builder);
}

static void quantiles(void) {
    builder_init(&builder);
    builder_names(&builder);
    struct simulated thread;
    simulate(&thread, 0);
    builder_header(&builder)->end = 2000000000;
    builder_header(&builder)->inside = 256 * 100;
    struct bp_node *node = builder_item(&builder, thread.nodes, 1);
    node->self = node->total = 500000000;
    node->histogram[bp_bucket(1000)] = 990;
    node->histogram[bp_bucket(1000000)] = 10;
    node->min = 1000;
    node->span = 1000000 - 1000;
    struct bp_model *model = read_model();
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (function->calls == 0)
            continue;
        CHECK_EQUAL(function->calls, 1000);
        CHECK_NEAR(function->min_s, 900 * NS, 1e-12);
        CHECK_NEAR(function->max_s, 999900 * NS, 1e-12);
        CHECK(function->median_s >= 900 * NS && function->median_s <= 1500 * NS);
        CHECK(function->p99_s <= 1500 * NS);
        CHECK_NEAR(function->self_s, (500000000 - 100 * 1000) * NS, 1e-12);
    }
    bp_model_free(model);
    builder_fini(&builder);
}

/* A part of CPU time: other programs do not count. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The process lives from 1 to 2 s. One line is open, one was being opened when the file was read,
 * one is of no function, and two are the same line of two code objects. */
static void counted_lines(void) {
    builder_init(&builder);
    builder_names(&builder);
    size_t threads = builder_chunk(&builder, BP_THREADS, BP_NO_THREAD, 1, 1);
    *(struct bp_thread *)builder_item(&builder, threads, 0) =
        (struct bp_thread){.tid = 1,
                           .state = BP_THREAD_ENDED,
                           .start = builder_header(&builder)->start,
                           .end = builder_header(&builder)->end};
    size_t nodes = builder_chunk(&builder, BP_NODES, 0, 1, 1);
    *(struct bp_node *)builder_item(&builder, nodes, 0) = (struct bp_node){.parent = BP_NO_NODE};
    uint64_t end = builder_header(&builder)->end;
    const struct bp_line_count counts[] = {
        {.func = BUILDER_FUNC, .line = 7, .hits = 2, .total = 50 - (end - 100), .open = 1},
        {.func = BUILDER_FUNC, .line = 8, .hits = 1, .self = 5, .total = 30, .open = 1},
        {.func = 4000, .line = 9, .hits = 1},
        {.func = BUILDER_FUNC, .line = 6, .hits = 3, .self = 10, .total = 20, .taken = 40},
        {.func = BUILDER_FUNC, .line = 6, .hits = 4, .self = 1, .total = 2, .taken = 8},
    };
    builder_header(&builder)->line_event = 4 * 256;
    builder_header(&builder)->line_doubt = 256;
    size_t lines = builder_chunk(&builder, BP_LINE_COUNTS, BP_NO_THREAD, 5, 5);
    for (uint32_t i = 0; i < 5; i++)
        *(struct bp_line_count *)builder_item(&builder, lines, i) = counts[i];
    struct bp_model *model = read_model();
    CHECK_EQUAL(model->lines.exact_count, 3);
    uint32_t count;
    const struct bp_exact_line *line =
        bp_model_exact_lines(model, model->lines.exact[0].function, &count);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(line[0].line, 6);
    CHECK_EQUAL(line[0].hits, 7);
    CHECK_NEAR(line[0].self_s, 11 * NS, 1e-12);
    CHECK_NEAR(line[0].total_s, 22 * NS, 1e-12);
    CHECK_NEAR(line[0].error_s, 12 * NS, 1e-12); /* a quarter of what was taken out */
    CHECK_NEAR(line[1].error_s, 0, 1e-12);
    CHECK_NEAR(line[1].total_s, 150 * NS, 1e-12);
    CHECK_NEAR(line[2].total_s, 30 * NS, 1e-12);
    bp_model_free(model);
    builder_fini(&builder);
}

/* 16,000 functions and 2,000 threads in one file. The limit is far above what it takes (0.05 s):
 * it is there to notice a quadratic loop. */
static void large_files(void) {
    builder_init(&builder);
    size_t strings = builder_chunk(&builder, BP_STRINGS, BP_NO_THREAD, 16000 * 8, 16000 * 8);
    size_t funcs = builder_chunk(&builder, BP_FUNCS, BP_NO_THREAD, 16000, 16000);
    for (uint32_t i = 1; i < 16000; i++) {
        struct bp_func *func = builder_item(&builder, funcs, i);
        *func = (struct bp_func){.name = 8 * i, .kind = BP_FUNC_CALL, .object = BP_NO_OBJECT};
        snprintf(builder_item(&builder, strings, 8 * i), 8, "f%05u", i);
    }
    size_t threads = builder_chunk(&builder, BP_THREADS, BP_NO_THREAD, 2000, 2000);
    for (uint32_t i = 0; i < 2000; i++) {
        struct bp_thread *thread = builder_item(&builder, threads, i);
        thread->tid = (int32_t)i + 1;
        thread->state = BP_THREAD_ENDED;
        thread->start = 1000000000;
        thread->end = 1000000000 + 8;
        size_t nodes = builder_chunk(&builder, BP_NODES, i, 8, 8);
        for (uint32_t k = 0; k < 8; k++)
            *(struct bp_node *)builder_item(&builder, nodes, k) = (struct bp_node){
                .parent = k ? 0 : BP_NO_NODE, .func = k ? 8 * i + k : 0, .self = 1};
        threads =
            BP_PAGE + builder_head(&builder, strings)->size + builder_head(&builder, funcs)->size;
    }
    double begin = seconds();
    struct bp_model *model = read_model();
    CHECK(seconds() - begin < 2);
    CHECK_EQUAL(model->lived_count, 2000);
    CHECK_EQUAL(model->function_count, 16001);
    CHECK_NEAR(model->thread_time.total_s, 16000 * NS, 1e-12);
    bp_model_free(model);
    builder_fini(&builder);
}

int main(void) {
    RUN(sums_to_the_lifetime);
    RUN(totals_are_sums);
    RUN(quantiles);
    RUN(counted_lines);
    RUN(large_files);
    return test_result();
}
