/* SPDX-License-Identifier: MIT
 *
 * What a file says about devices: through the target's writer and the reader, with contexts that do
 * not exist, past a fork, and into the categories of the model.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "tests/unit/builder.h"
#include "tests/unit/test.h"
#include "tools/model/model.h"

#define MS UINT64_C(1000000)

/* A thread of 1 s: root 300 ms, f0 (DSL) 200 ms, below it f1, a CUDA call, 500 ms. */
static void build(struct builder *builder) {
    builder_init(builder);
    size_t threads = builder_chunk(builder, BP_THREADS, BP_NO_THREAD, 1, 1);
    size_t nodes = builder_chunk(builder, BP_NODES, 0, 3, 3);
    struct bp_thread *thread = builder_item(builder, threads, 0);
    thread->state = BP_THREAD_ENDED;
    thread->start = builder_header(builder)->start;
    thread->end = builder_header(builder)->end;
    static const uint64_t self[] = {300, 200, 500};
    for (uint32_t i = 0; i < 3; i++)
        *(struct bp_node *)builder_item(builder, nodes, i) =
            (struct bp_node){.parent = i ? i - 1 : BP_NO_NODE,
                             .func = i ? BUILDER_FUNC + i - 1 : 0,
                             .self = self[i] * MS,
                             .index = i};
    builder_names(builder);
    for (size_t at = BP_PAGE; at < builder->image.size; at += builder_head(builder, at)->size)
        if (builder_head(builder, at)->kind == BP_FUNCS) {
            struct bp_func *func = builder_item(builder, at, BUILDER_FUNC + 1);
            func->flags = BP_FUNC_CUDA;
            func->object = BP_NO_OBJECT; /* libdsl.so would make it DSL */
        }
}

static void contexts_that_do_not_exist(void) {
    struct builder builder;
    build(&builder);
    size_t chunk = builder_chunk(&builder, BP_TRANSFERS, BP_NO_THREAD, 3, 3);
    struct bp_transfer *transfers = builder_item(&builder, chunk, 0);
    transfers[0] = (struct bp_transfer){.node = 2, .source = BP_MEMORY_PINNED, .count = 1};
    transfers[1] = (struct bp_transfer){.node = 3, .direction = 99, .source = 77, .target = 88};
    transfers[2] = (struct bp_transfer){.thread = 1, .node = 0};
    chunk = builder_chunk(&builder, BP_WAITS, BP_NO_THREAD, 1, 1);
    *(struct bp_wait *)builder_item(&builder, chunk, 0) =
        (struct bp_wait){.node = 2, .launch_thread = 5, .time = 7};
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->transfer_count, 3);
    CHECK_EQUAL(profile->transfers[0].node, 2);
    CHECK_EQUAL(profile->transfers[0].source, BP_MEMORY_PINNED);
    CHECK_EQUAL(profile->transfers[1].thread, BP_NO_THREAD);
    CHECK_EQUAL(profile->transfers[1].node, BP_NO_NODE);
    CHECK(profile->transfers[1].direction < BP_DIRECTIONS);
    CHECK_EQUAL(profile->transfers[1].source, BP_MEMORY_UNKNOWN);
    CHECK_EQUAL(profile->transfers[1].target, BP_MEMORY_UNKNOWN);
    CHECK_EQUAL(profile->transfers[2].node, BP_NO_NODE);
    CHECK_EQUAL(profile->waits[0].node, 2);
    CHECK_EQUAL(profile->waits[0].launch_node, BP_NO_NODE);
    CHECK(!profile->collector);
    bp_profile_free(profile);
    builder_fini(&builder);
}

static struct bp_transfer asked(uint32_t node, unsigned flags, uint64_t count, unsigned bucket) {
    struct bp_transfer item = {.node = node, .direction = BP_D2H, .flags = (uint8_t)flags};
    for (uint64_t i = 0; i < count; i++)
        bp_transfer_copy(&item, UINT64_C(1) << bucket, 0);
    return item;
}

/* What was asked for counts only where no record of it came. An item without its other half
 * means nothing. */
static void copies_without_records(void) {
    struct builder builder;
    build(&builder);
    size_t chunk = builder_chunk(&builder, BP_TRANSFERS, BP_NO_THREAD, 1, 1);
    *(struct bp_transfer *)builder_item(&builder, chunk, 0) =
        (struct bp_transfer){.node = 2, .direction = BP_D2H, .count = 3, .bytes = 300};
    chunk = builder_chunk(&builder, BP_ASKED, BP_NO_THREAD, 6, 6);
    struct bp_transfer *items = builder_item(&builder, chunk, 0);
    items[0] = asked(2, 0, 7, 10);
    items[1] = asked(2, BP_TRANSFER_MET, 3, 10);
    items[2] = asked(1, 0, 9, 10);
    items[3] = asked(1, BP_TRANSFER_ASYNC, 5, 20);
    items[4] = asked(1, BP_TRANSFER_ASYNC | BP_TRANSFER_MET, 5, 20);
    items[5] = asked(1, 0, 4, 10);
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->transfer_count, 2);
    CHECK_EQUAL(profile->transfers[0].count, 3);
    const struct bp_transfer *left = &profile->transfers[1];
    CHECK_EQUAL(left->node, 2);
    CHECK_EQUAL(left->direction, BP_D2H);
    CHECK_EQUAL(left->flags, BP_TRANSFER_UNTIMED | BP_TRANSFER_HOST_ONLY);
    CHECK_EQUAL(left->count, 4);
    CHECK_EQUAL(left->bytes, 4 << 10);
    CHECK_EQUAL(left->small_count, 4);
    CHECK_EQUAL(left->sizes[10], 4);
    CHECK_EQUAL(left->device_time, 0);
    bp_profile_free(profile);
    builder_fini(&builder);
}

/* CUPTI dropped what led from two records to their calls: they are among the seven. */
static void records_without_calls(void) {
    struct builder builder;
    builder_init(&builder);
    size_t chunk = builder_chunk(&builder, BP_TRANSFERS, BP_NO_THREAD, 1, 1);
    struct bp_transfer *orphan = builder_item(&builder, chunk, 0);
    *orphan = asked(0, 0, 2, 10);
    orphan->thread = BP_NO_THREAD;
    chunk = builder_chunk(&builder, BP_ASKED, BP_NO_THREAD, 2, 2);
    struct bp_transfer *items = builder_item(&builder, chunk, 0);
    items[0] = asked(2, 0, 7, 10);
    items[1] = asked(2, BP_TRANSFER_MET, 3, 10);
    struct bp_profile *profile = builder_read(&builder);
    CHECK_EQUAL(profile->transfer_count, 2);
    const struct bp_transfer *left = &profile->transfers[1];
    CHECK_EQUAL(left->count, 2);
    CHECK_EQUAL(left->bytes, 2 << 10);
    CHECK_EQUAL(left->small_count, 2);
    CHECK_EQUAL(left->sizes[10], 2);
    bp_profile_free(profile);
    builder_fini(&builder);
}

static struct bp_model *make_model(struct builder *builder, struct bp_rules **rules) {
    char path[] = "/tmp/battprof-devices-XXXXXX";
    struct bp_error error = {0};
    close(mkstemp(path));
    CHECK_EQUAL(builder_write(builder, path), 0);
    *rules = bp_rules_new(NULL, &error);
    struct bp_model *model = bp_model_new(path, *rules, &error);
    CHECK(model);
    unlink(path);
    return model;
}

/* 500 ms of the CUDA call: 120 transfer, 80 for a kernel of the DSL, 50 for one of nobody. */
static void categories(void) {
    struct builder builder;
    struct bp_rules *rules;
    build(&builder);
    size_t chunk = builder_chunk(&builder, BP_SPLITS, BP_NO_THREAD, 1, 1);
    *(struct bp_split *)builder_item(&builder, chunk, 0) = (struct bp_split){
        .node = 2, .calls = 1, .time = 500 * MS, .transfer = 120 * MS, .wait = 130 * MS};
    chunk = builder_chunk(&builder, BP_WAITS, BP_NO_THREAD, 2, 2);
    struct bp_wait *waits = builder_item(&builder, chunk, 0);
    waits[0] = (struct bp_wait){.node = 2, .launch_node = 2, .time = 80 * MS};
    waits[1] = (struct bp_wait){.node = 2, .launch_node = 0, .time = 50 * MS};
    struct bp_model *model = make_model(&builder, &rules);
    CHECK_NEAR(model->wall.category_s[BP_TRANSFER], 0.12, 1e-9);
    CHECK_NEAR(model->wall.category_s[BP_DSL], 0.28, 1e-9);
    CHECK_NEAR(model->wall.category_s[BP_FRAMEWORK], 0.6, 1e-9);
    CHECK_NEAR(model->thread_time.category_s[BP_TRANSFER], 0.12, 1e-9);
    CHECK_NEAR(model->thread_time.cuda_api_s, 0.25, 1e-9);
    CHECK_NEAR(model->thread_time.kernel_wait_s, 0.05, 1e-9);
    CHECK_NEAR(model->thread_time.dsl_kernel_wait_s, 0.08, 1e-9);
    CHECK_NEAR(model->thread_time.running_s, 0.3, 1e-9);
    CHECK_NEAR(model->threads[0].sum_s, 1.0, 1e-9);
    bp_model_free(model);
    bp_rules_free(rules);
    builder_fini(&builder);
}

/* 0.010 - 0.001 - 0.002 - 0.007 is 8.7e-19, not 0: a row of nothing. */
static void waits_for_the_dsl_alone(void) {
    struct builder builder;
    struct bp_rules *rules;
    build(&builder);
    size_t chunk = builder_chunk(&builder, BP_SPLITS, BP_NO_THREAD, 1, 1);
    *(struct bp_split *)builder_item(&builder, chunk, 0) =
        (struct bp_split){.node = 2, .calls = 1, .time = 500 * MS, .wait = 10 * MS};
    chunk = builder_chunk(&builder, BP_WAITS, BP_NO_THREAD, 3, 3);
    struct bp_wait *waits = builder_item(&builder, chunk, 0);
    waits[0] = (struct bp_wait){.node = 2, .launch_node = 2, .time = 1 * MS};
    waits[1] = (struct bp_wait){.node = 2, .launch_node = 2, .time = 2 * MS};
    waits[2] = (struct bp_wait){.node = 2, .launch_node = 2, .time = 7 * MS};
    struct bp_model *model = make_model(&builder, &rules);
    CHECK(model->thread_time.kernel_wait_s == 0);
    CHECK_NEAR(model->thread_time.dsl_kernel_wait_s, 0.01, 1e-9);
    bp_model_free(model);
    bp_rules_free(rules);
    builder_fini(&builder);
}

/* A split that claims more than the node has: never more than there is. */
static void too_large_a_split(void) {
    struct builder builder;
    struct bp_rules *rules;
    build(&builder);
    size_t chunk = builder_chunk(&builder, BP_SPLITS, BP_NO_THREAD, 1, 1);
    *(struct bp_split *)builder_item(&builder, chunk, 0) =
        (struct bp_split){.node = 2, .time = 1, .transfer = 3000 * MS, .wait = 1000 * MS};
    struct bp_model *model = make_model(&builder, &rules);
    CHECK_NEAR(model->wall.category_s[BP_TRANSFER], 0.375, 1e-9);
    CHECK_NEAR(model->thread_time.kernel_wait_s, 0.125, 1e-9);
    CHECK_NEAR(model->thread_time.cuda_api_s, 0, 1e-9);
    CHECK_NEAR(model->wall.unsplit_s, 0, 1e-9);
    bp_model_free(model);
    bp_rules_free(rules);
    builder_fini(&builder);
}

/* The child begins without devices; pointers to the parent's items neither crash nor reach it. */
static void past_a_fork(void) {
    struct bp_writer writer = {0};
    char directory[] = "/tmp/battprof-devices-XXXXXX";
    char parent[64];
    char child[64];
    uint32_t index;
    CHECK(mkdtemp(directory) != NULL);
    snprintf(parent, sizeof(parent), "%s/parent.bp", directory);
    snprintf(child, sizeof(child), "%s/child.bp", directory);
    CHECK_EQUAL(bp_writer_create(&writer, parent), 0);
    builder_begin_header(writer.header);
    struct bp_device *device = bp_writer_item(&writer, BP_DEVICES, &index);
    device->busy = 7;
    device->name = bp_writer_string(&writer, "T4");
    bp_writer_commit(&writer, BP_DEVICES);
    CHECK_EQUAL(bp_writer_before_fork(&writer, 0), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = bp_writer_fork(&writer, child);
        bp_header_publish(writer.header);
        device->busy = 8;
        struct bp_device *own = bp_writer_item(&writer, BP_DEVICES, &index);
        own->busy = 9;
        bp_writer_commit(&writer, BP_DEVICES);
        _exit(failed ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    bp_writer_after_fork(&writer);
    CHECK_EQUAL(status, 0);
    struct bp_profile *profile = builder_take(parent);
    CHECK_EQUAL(profile->device_count, 1);
    CHECK_EQUAL(profile->devices[0].busy, 7);
    CHECK_TEXT(bp_profile_string(profile, profile->devices[0].name), "T4");
    bp_profile_free(profile);
    profile = builder_take(child);
    CHECK_EQUAL(profile->device_count, 1);
    CHECK_EQUAL(profile->devices[0].busy, 9);
    CHECK_TEXT(profile->missing, "");
    bp_profile_free(profile);
    rmdir(directory);
}

int main(void) {
    RUN(contexts_that_do_not_exist);
    RUN(copies_without_records);
    RUN(records_without_calls);
    RUN(categories);
    RUN(waits_for_the_dsl_alone);
    RUN(too_large_a_split);
    RUN(past_a_fork);
    return test_result();
}
