/* SPDX-License-Identifier: MIT
 *
 * Five lines at the end of a program that was started with LD_PRELOAD alone. Only this process, by
 * the built-in categories; the whole story is the report's.
 */
#include <stdio.h>
#include <string.h>

#include "interpose/base/log.h"
#include "interpose/ledger/light.h"
#include "interpose/ledger/thread.h"
#include "interpose/process/process.h"
#include "profile/clock.h"

#define TOP 3
#define DEEPEST 1000 /* callers of a launch */
#define LINE 59      /* bytes of functions, beside what stands before them in 80 columns */

struct function_time {
    uint64_t self, calls;
};

struct sums {
    uint64_t dsl, transfer, running, waiting, io; /* ticks, summed over threads */
    const struct bp_collector *collector;         /* NULL without CUDA */
    uint32_t copies;                              /* kinds of them */
    uint32_t threads;
    uint32_t function_count;
    struct function_time *functions;
};

static void *item(enum bp_chunk_kind kind, uint32_t index) {
    return bp_writer_get(&bp_process.writer, kind, index);
}

static const char *library_of(const struct bp_func *func) {
    const struct bp_object *object =
        func->object == BP_NO_OBJECT ? NULL : item(BP_OBJECTS, func->object);
    const char *path = object ? item(BP_STRINGS, object->path) : "";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* As the built-in rules of the report have it: logging is kept in libdsl, not of it. */
static int is_dsl(const struct bp_func *func) {
    if (func->kind != BP_FUNC_CALL || func->flags & BP_FUNC_CHOSEN)
        return func->kind == BP_FUNC_CALL;
    return strncmp(library_of(func), "libdsl", 6) == 0 &&
           strncmp(item(BP_STRINGS, func->name), "dsl_log_", 8) != 0;
}

static void add_self(struct sums *sums, uint32_t index, uint64_t self) {
    const struct bp_func *func = item(BP_FUNCS, index);
    if (!func)
        return;
    *(is_dsl(func)                 ? &sums->dsl
      : func->kind == BP_FUNC_WAIT ? &sums->waiting
      : func->kind == BP_FUNC_IO   ? &sums->io
                                   : &sums->running) += self;
    if (index < sums->function_count)
        sums->functions[index].self += self;
}

static void add_nodes(struct sums *sums, struct bp_chunk *chunk) {
    const struct bp_node *nodes = bp_chunk_items(chunk);
    for (uint32_t i = 0; i < chunk->count; i++) {
        add_self(sums, nodes[i].func, nodes[i].self);
        if (nodes[i].func >= sums->function_count)
            continue;
        uint64_t *calls = &sums->functions[nodes[i].func].calls;
        *calls += nodes[i].untimed + (nodes[i].last != 0);
        for (unsigned b = 1; b < BP_BUCKETS; b++)
            *calls += nodes[i].histogram[b];
    }
}

/* Calls that are open at the end have not been added to their nodes yet. */
static void add_open(struct sums *sums, struct bp_thread *thread, uint64_t end) {
    uint64_t inner = end;
    if (thread->state == BP_THREAD_UNUSED)
        return;
    sums->threads += thread->lives;
    if (thread->state != BP_THREAD_LIVE)
        return;
    for (struct bp_entry *entry = bp_thread_innermost(thread);;
         entry = (struct bp_entry *)entry->parent) {
        uint64_t start = bp_light_start(entry, inner);
        uint64_t spent = inner > start ? inner - start : 0;
        add_self(sums, ((struct bp_node *)entry->node)->func,
                 spent > entry->child ? spent - entry->child : 0);
        if (entry == &thread->root)
            return;
        inner = start;
    }
}

/* The time of CUDA calls is running until it is known better. */
static void move(struct sums *sums, uint64_t *to, uint64_t time) {
    uint64_t moved = time < sums->running ? time : sums->running;
    sums->running -= moved;
    *to += moved;
}

static const struct bp_node *node_of(uint32_t thread, uint32_t index) {
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0])
        if (c->kind == BP_NODES && c->thread == thread && index - c->first < c->count)
            return (const struct bp_node *)bp_chunk_items(c) + (index - c->first);
    return NULL;
}

/* Waiting for a kernel that was launched below a DSL function is the DSL's. */
static int is_launched_by_dsl(const struct bp_wait *wait) {
    const struct bp_node *node = node_of(wait->launch_thread, wait->launch_node);
    for (int depth = 0; node && depth < DEEPEST; depth++) {
        const struct bp_func *func = item(BP_FUNCS, node->func);
        if (func && is_dsl(func))
            return 1;
        node = node_of(wait->launch_thread, node->parent);
    }
    return 0;
}

/* What CUDA calls waited for. */
static void divide(struct sums *sums, struct bp_chunk *chunk) {
    const struct bp_split *splits = bp_chunk_items(chunk);
    const struct bp_wait *waits = bp_chunk_items(chunk);
    for (uint32_t i = 0; i < chunk->count; i++)
        if (chunk->kind == BP_SPLITS)
            move(sums, &sums->transfer, splits[i].transfer);
        else if (chunk->kind == BP_WAITS && is_launched_by_dsl(&waits[i]))
            move(sums, &sums->dsl, waits[i].time);
    sums->copies += chunk->kind == BP_TRANSFERS ? chunk->count : 0;
    if (chunk->kind == BP_COLLECTOR)
        sums->collector = bp_chunk_items(chunk);
}

static void add_all(struct sums *sums) {
    uint64_t end = bp_process.writer.header->end;
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0]) {
        struct bp_thread *threads = bp_chunk_items(c);
        if (c->kind == BP_NODES)
            add_nodes(sums, c);
        for (uint32_t i = 0; c->kind == BP_THREADS && i < c->count; i++)
            add_open(sums, &threads[i], end);
    }
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0])
        divide(sums, c);
    uint64_t own = bp_process.writer.header->last_time; /* we waited for the last records */
    sums->running -= own < sums->running ? own : sums->running;
}

static uint32_t largest(const struct sums *sums) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < sums->function_count; i++) {
        const struct bp_func *func = item(BP_FUNCS, i);
        if (func && func->kind == BP_FUNC_CALL &&
            sums->functions[i].self > sums->functions[best].self)
            best = i;
    }
    return best;
}

/* "objects 0.61 s in 12345 calls, paint 0.12 in 99": as many as a line holds, and one in any case.
 */
static void describe_top(struct sums *sums, double ticks_per_s, char *text, size_t size) {
    size_t used = 0;
    sums->functions[0].self = 0; /* the roots */
    for (int i = 0; i < TOP; i++) {
        char one[320];
        uint32_t index = largest(sums);
        const struct bp_func *func = item(BP_FUNCS, index);
        struct function_time *time = &sums->functions[index];
        if (!func || !time->self)
            break;
        int length =
            snprintf(one, sizeof one, "%s%.250s %.3f%s in %llu%s", i ? ", " : "",
                     (const char *)item(BP_STRINGS, func->name), (double)time->self / ticks_per_s,
                     i ? "" : " s", (unsigned long long)time->calls,
                     i                  ? ""
                     : time->calls == 1 ? " call"
                                        : " calls");
        if (i && used + (size_t)length > LINE)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s", one);
        time->self = 0;
    }
    if (!used)
        snprintf(text, size, "no hooked function was called (hooked: %s)",
                 bp_process.writer.header->hooks);
}

static double rate(const struct bp_header *header) {
    double ns = (double)(header->last.monotonic_ns - header->first.monotonic_ns);
    double ticks = (double)(header->last.ticks - header->first.ticks);
    return ns > 1e6 ? ticks * 1e9 / ns : (double)(header->ticks_per_s ? header->ticks_per_s : 1);
}

/* The report of the file with the wall page is that of the whole tree. */
static void print_place(const struct bp_header *header, uint32_t others) {
    const char *path = bp_process.writer.path;
    if (header->flags & BP_LOST_DISK)
        bp_log_wrapped("%s is incomplete, %.1f MB are lost: %s; next: the same with more room, "
                       "BATTPROF_DIR names another directory",
                       path, (double)header->lost_bytes / 1e6,
                       bp_log_reason((int)header->lost_errno));
    else
        bp_log_command("next: battprof report %s%s", header->tree[0] ? header->tree : path,
                       others ? "   (all processes)" : "");
}

/* ", transfer 0.071 s 70.1 %" where CUDA was used. Without device records a copy has the time of
 * its call, and without some of them what they would tell is missing. */
static void describe_transfer(const struct sums *sums, double per_s, double all_s, char *text,
                              size_t size) {
    const struct bp_collector *collector = sums->collector;
    double transfer_s = (double)sums->transfer / per_s;
    int host_only = collector && collector->state < BP_COLLECTOR_ACTIVE;
    text[0] = 0;
    if (!collector || !(all_s > 0) || (host_only && !sums->copies))
        return;
    if (host_only && !sums->transfer) {
        snprintf(text, size, ", transfer unknown");
        return;
    }
    int whole = collector->state == BP_COLLECTOR_ACTIVE && !collector->dropped &&
                !collector->late && !collector->lost_calls;
    snprintf(text, size, ", transfer %s%.3f s %.1f %%",
             whole       ? ""
             : host_only ? "about "
                         : "at least ",
             transfer_s, 100 * transfer_s / all_s);
}

static void print_sums(const struct sums *sums, double per_s, uint32_t others) {
    double dsl_s = (double)sums->dsl / per_s, running_s = (double)sums->running / per_s;
    double waiting_s = (double)sums->waiting / per_s, io_s = (double)sums->io / per_s;
    double framework_s = running_s + waiting_s + io_s;
    double all_s = dsl_s + framework_s + (double)sums->transfer / per_s;
    char transfer[64];
    describe_transfer(sums, per_s, all_s, transfer, sizeof transfer);
    bp_log_wrapped("DSL %.3f s %.1f %%, framework %.3f s %.1f %%%s of %s time", dsl_s,
                   all_s > 0 ? 100 * dsl_s / all_s : 0, framework_s,
                   all_s > 0 ? 100 * framework_s / all_s : 0, transfer,
                   others ? "this process's" : "thread");
    bp_log_wrapped("framework: running %.3f s, waiting %.3f s, file I/O %.3f s", running_s,
                   waiting_s, io_s);
}

void bp_summary_print(void) {
    const struct bp_header *header = bp_process.writer.header;
    struct bp_chunk *last = bp_process.writer.open[BP_FUNCS];
    struct sums sums = {.function_count = last ? last->first + last->count : 0};
    sums.functions = bp_pages_new((sums.function_count + 1) * sizeof *sums.functions);
    if (!sums.functions)
        return;
    add_all(&sums);
    double per_s = rate(header);
    uint32_t others = bp_process.tree ? bp_process.tree->processes - 1 : 0;
    char top[400];
    describe_top(&sums, per_s, top, sizeof top);
    const char *slash = strrchr(header->executable, '/');
    bp_log_wrapped("%s ran %.3f s in %u thread%s and %u other process%s",
                   slash ? slash + 1 : header->executable,
                   (double)(header->end - header->start) / per_s, sums.threads,
                   sums.threads == 1 ? "" : "s", others, others == 1 ? "" : "es");
    print_sums(&sums, per_s, others);
    bp_log_wrapped("most time: %s", top);
    print_place(header, others);
}
