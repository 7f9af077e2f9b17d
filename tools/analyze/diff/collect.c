/* SPDX-License-Identifier: MIT
 *
 * Rows from models. A function is the same in two runs if kind, module, name and library are; its
 * line is not looked at, since code above it may have changed. One that has only changed its
 * library (a new version, a renamed program) is found by its name.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/keys.h"
#include "tools/base/memory.h"

/* A thread that loses its CPU does so for about a time slice: 3 to 4 ms here, seen as steps in the
 * self times of functions that take microseconds. */
#define SLICE_S 0.004
/* And now and then for longer: behind a group of others, or throttled for what is left of a tenth
 * of a second. Any function may have been the one. */
#define STALL_S 0.06
/* A function whose calls are this long hides lost slices in its usual durations. */
#define LONG_CALL_S 0.0005
#define LEAST_CALLS 8
/* Busy threads at once, on average, up to which none of them waited for another's CPU. */
#define ALONE 1.1
/* Part of the time in a run queue that may be wrong: clocks are read at slightly other times. */
#define QUEUE_DOUBT 0.004
/* Part of a wall that is left of it at least: below it is all doubt. */
#define LEAST_QUIET 0.02

struct collector {
    struct bp_diff *diff;
    struct bp_keys table;
    char *key;
    size_t key_size;
};

/* One function may be of several kinds, and a kernel of two categories. */
static struct bp_diff_row *put(struct collector *collector, enum bp_diff_kind kind, uint32_t sort,
                               const char *name, const struct bp_function *function) {
    struct bp_diff *diff = collector->diff;
    const char *texts[] = {name, function ? function->module : "",
                           function ? function->library : ""};
    size_t size = 2;
    for (int i = 0; i < 3; i++)
        size += strlen(texts[i]) + 1;
    if (size > collector->key_size) {
        free(collector->key);
        collector->key = bp_alloc(collector->key_size = 2 * size, 1);
    }
    char *to = collector->key;
    *to++ = (char)kind;
    *to++ = (char)sort;
    for (int i = 0; i < 3; i++)
        to = stpcpy(to, texts[i]) + 1;
    uint32_t number = bp_keys_put(&collector->table, collector->key, size);
    if (number < diff->row_count)
        return &diff->rows[number];
    struct bp_diff_row *row = BP_APPEND(diff->rows, diff->row_count);
    row->kind = kind;
    row->name = name;
    row->function = function;
    row->category = function ? function->category : BP_FRAMEWORK;
    row->cuda = function && function->cuda;
    row->values = bp_alloc(diff->run_count, sizeof(*row->values));
    return row;
}

static struct bp_diff_row *put_row(struct collector *collector, enum bp_diff_kind kind,
                                   const char *name, const struct bp_function *function) {
    return put(collector, kind, function ? function->kind : 0, name, function);
}

/* Where calls are so long that a lost slice would not stand out, or where there are none, any may
 * be hidden. */
static bool hides_slices(const struct bp_function *function) {
    double calls = (double)function->calls;
    return function->kind != BP_FUNC_CALL || calls < LEAST_CALLS ||
           function->self_s > calls * LONG_CALL_S;
}

/* Copies and kernels are rows of their own. */
static double own_time(const struct bp_function *function) {
    double s = function->self_s - function->transfer_s - function->kernel_wait_s;
    return s > 0 ? s : 0;
}

/* How much of `s` was lost waiting for a CPU: a function's share of what the run lost, give or take
 * chance, and not more than its bursts show. */
static void find_lost(const struct bp_diff_run *run, const struct bp_function *function, double s,
                      double *least_s, double *most_s) {
    double slices = run->busy_s > 0 ? s / run->busy_s * run->lost_s / SLICE_S : 0;
    double stall_s = run->lost_s < STALL_S ? run->lost_s : STALL_S;
    double chance_s = SLICE_S * 3 * sqrt(slices) + stall_s;
    *most_s = SLICE_S * slices + chance_s;
    if (*most_s > run->lost_s)
        *most_s = run->lost_s;
    if (*most_s > s)
        *most_s = s;
    if (!hides_slices(function) && function->burst_s < *most_s)
        *most_s = function->burst_s;
    *least_s = SLICE_S * slices - chance_s;
    if (*least_s < 0)
        *least_s = 0;
    if (*least_s > *most_s)
        *least_s = *most_s;
}

static void add_value(struct bp_diff_value *value, const struct bp_diff_run *run,
                      const struct bp_function *function) {
    double s = own_time(function);
    double least_s;
    double most_s;
    find_lost(run, function, s, &least_s, &most_s);
    value->s += s;
    value->likely_s += s - (least_s + most_s) / 2;
    value->doubt_s += (most_s - least_s) / 2;
    value->wall_s += function->self_s > 0 ? function->wall_s * s / function->self_s : 0;
    value->overhead_s += function->overhead_s;
    value->count += function->calls + function->in_flight;
    value->fixed_s += function->cuda ? s : 0;
    value->first_s = fmax(value->first_s, function->first_s);
    if (function->calls >= LEAST_CALLS)
        value->least_s = function->min_s;
}

static void add_function(struct collector *collector, uint32_t run,
                         const struct bp_function *function) {
    add_value(&put_row(collector, BP_DIFF_FUNCTION, function->name, function)->values[run],
              &collector->diff->runs[run], function);
}

/* Sampled time is in doubt by its error, and by what of it was lost waiting for a CPU. */
static void add_sampled_part(struct bp_diff_value *value, const struct bp_diff_run *run,
                             const struct bp_part *part) {
    double least_s;
    double most_s;
    find_lost(run, &run->model->functions[part->function], part->self_s, &least_s, &most_s);
    value->s += part->self_s;
    value->likely_s += part->self_s - (least_s + most_s) / 2;
    value->doubt_s += part->error_s + (most_s - least_s) / 2;
    value->wall_s += part->wall_s;
}

/* A group is in doubt as its functions are; of waiting see is_compared(). */
static void add_group_part(struct collector *collector, uint32_t run, const struct bp_group *group,
                           const struct bp_part *part) {
    const struct bp_diff_run *from = &collector->diff->runs[run];
    const struct bp_function *function = &from->model->functions[part->function];
    struct bp_diff_value whole = {0};
    if (function->kind == BP_FUNC_WAIT)
        return;
    if (function->cuda)
        put_row(collector, BP_DIFF_GROUP, group->name, NULL)->cuda = true;
    if (part->kind != BP_PART_EXACT) {
        add_sampled_part(&put_row(collector, BP_DIFF_GROUP, group->name, NULL)->values[run], from,
                         part);
        return;
    }
    if (!(function->self_s > 0))
        return;
    add_value(&whole, from, function);
    double rate = part->self_s / function->self_s;
    struct bp_diff_value *value =
        &put_row(collector, BP_DIFF_GROUP, group->name, NULL)->values[run];
    value->s += part->self_s;
    value->likely_s += part->self_s + (whole.likely_s - whole.s) * rate;
    value->doubt_s += whole.doubt_s * rate;
    value->overhead_s += whole.overhead_s * rate;
    value->fixed_s += function->cuda ? part->self_s : 0;
    value->wall_s += part->wall_s;
}

/* Their time is in that of the functions that were intercepted, so they are no causes. */
static void add_sampled(struct collector *collector, uint32_t run) {
    const struct bp_diff_run *from = &collector->diff->runs[run];
    for (uint32_t i = 0; i < from->model->part_count; i++) {
        const struct bp_part *part = &from->model->parts[i];
        const struct bp_function *function = &from->model->functions[part->function];
        if (part->kind != BP_PART_SAMPLED || function->kind != BP_FUNC_CALL || function->calls ||
            function->cuda)
            continue;
        struct bp_diff_row *row = put_row(collector, BP_DIFF_SAMPLED, function->name, function);
        add_sampled_part(&row->values[run], from, part);
    }
}

static void add_groups(struct collector *collector, uint32_t run) {
    const struct bp_model *model = collector->diff->runs[run].model;
    for (uint32_t i = 0; i < model->group_count; i++)
        for (uint32_t k = 0; k < model->groups[i].part_count; k++)
            add_group_part(collector, run, &model->groups[i], &model->groups[i].parts[k]);
}

/* Waiting follows the speed of others; what it costs is in the idle time. */
static bool is_compared(const struct bp_function *function) {
    return bp_function_used(function) && function->kind != BP_FUNC_WAIT;
}

static void add_wall(struct collector *collector, uint32_t run, enum bp_diff_kind kind,
                     const char *name, double s) {
    double lost_s = collector->diff->runs[run].lost_s;
    struct bp_diff_value *value = &put_row(collector, kind, name, NULL)->values[run];
    value->s = value->wall_s = value->likely_s = s;
    value->doubt_s = lost_s < s ? lost_s : s;
    value->fixed_s = kind == BP_DIFF_IDLE ? s : 0;
}

/* What a second of a thread is of the wall: less where others were busy at the same time. */
static double wall_rate(double wall_s, double thread_s) {
    return thread_s > 0 ? wall_s / thread_s : 0;
}

/* Without device records it is the time of calls, which lose their CPU as others do. */
static void add_copies(struct bp_diff_row *row, const struct bp_diff_run *run, uint32_t number,
                       const struct bp_model_transfer *transfer) {
    struct bp_diff_value *value = &row->values[number];
    const struct bp_model *model = run->model;
    double rate =
        wall_rate(model->wall.category_s[BP_TRANSFER], model->thread_time.category_s[BP_TRANSFER]);
    double least_s = 0;
    double most_s = 0;
    if (transfer->flags & BP_TRANSFER_HOST_ONLY && transfer->exposed_s > 0) {
        row->on_host = true;
        if (transfer->call != BP_NO_FUNCTION)
            find_lost(run, &model->functions[transfer->call], transfer->exposed_s, &least_s,
                      &most_s);
    }
    value->s += transfer->exposed_s;
    value->likely_s += transfer->exposed_s - (least_s + most_s) / 2;
    value->doubt_s += (most_s - least_s) / 2;
    value->fixed_s += transfer->exposed_s;
    value->wall_s += transfer->exposed_s * rate;
    value->count += transfer->count;
    value->bytes += transfer->bytes;
}

static void add_transfers(struct collector *collector, uint32_t run) {
    static const char *const names[] = {"host to device", "device to host", "within a device",
                                        "between devices", "memset"};
    const struct bp_diff_run *from = &collector->diff->runs[run];
    for (uint32_t i = 0; i < from->model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &from->model->cuda.transfers[i];
        const char *name = names[transfer->direction < 5 ? transfer->direction : 4];
        struct bp_diff_row *row = put_row(collector, BP_DIFF_TRANSFER, name, NULL);
        row->category = BP_TRANSFER;
        add_copies(row, from, run, transfer);
    }
}

/* What is waited for a kernel is the category's that launched it. */
static void add_kernels(struct collector *collector, uint32_t run) {
    const struct bp_model *model = collector->diff->runs[run].model;
    double rates[] = {
        [BP_DSL] = wall_rate(model->wall.dsl_kernel_wait_s, model->thread_time.dsl_kernel_wait_s),
        [BP_FRAMEWORK] = wall_rate(model->wall.kernel_wait_s, model->thread_time.kernel_wait_s),
    };
    for (uint32_t i = 0; i < model->cuda.kernel_count; i++) {
        const struct bp_model_kernel *kernel = &model->cuda.kernels[i];
        enum bp_category category = kernel->dsl ? BP_DSL : BP_FRAMEWORK;
        struct bp_diff_row *row = put(collector, BP_DIFF_KERNEL, category, kernel->name, NULL);
        struct bp_diff_value *value = &row->values[run];
        row->category = category;
        value->s += kernel->device_s;
        value->likely_s += kernel->device_s;
        value->fixed_s += kernel->device_s;
        value->wall_s += kernel->wait_s * rates[category];
        value->count += kernel->count;
    }
}

static void add_run(struct collector *collector, uint32_t run) {
    const struct bp_model *model = collector->diff->runs[run].model;
    add_wall(collector, run, BP_DIFF_WALL, "wall", model->wall.total_s);
    for (int i = 0; i < BP_CATEGORIES; i++)
        add_wall(collector, run, BP_DIFF_CATEGORY, bp_category_name((enum bp_category)i),
                 model->wall.category_s[i]);
    for (int i = 0; i < BP_SPLIT_ROWS; i++)
        add_wall(collector, run, BP_DIFF_SPLIT, bp_split_key((enum bp_split_row)i),
                 model->split.rows[i].wall_s);
    /* What no thread waited for is the start and the end of processes: the kernel's. */
    double idle_s = model->wall.idle_s < model->thread_time.waiting_s
                        ? model->wall.idle_s
                        : model->thread_time.waiting_s;
    add_wall(collector, run, BP_DIFF_IDLE, "waiting, no thread busy", idle_s);
    for (uint32_t i = 0; i < model->function_count; i++)
        if (is_compared(&model->functions[i]))
            add_function(collector, run, &model->functions[i]);
    if (model->tasks.summary.ended)
        add_wall(collector, run, BP_DIFF_TASK, "median task", model->tasks.summary.median_s);
    add_sampled(collector, run);
    add_groups(collector, run);
    add_transfers(collector, run);
    add_kernels(collector, run);
}

static void settle_presence(struct bp_diff *diff) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        for (uint32_t k = 0; k < diff->run_count; k++) {
            const struct bp_diff_value *value = &diff->rows[i].values[k];
            if (value->s > 0 || value->count > 0)
                *(k < diff->old_side.count ? &diff->rows[i].in_old : &diff->rows[i].in_new) = true;
        }
}

static bool same_name(const struct bp_diff_row *a, const struct bp_diff_row *b) {
    return a->kind == b->kind && a->function && a->function->kind == b->function->kind &&
           strcmp(a->name, b->name) == 0 && strcmp(a->function->module, b->function->module) == 0;
}

/* The only row of the other side alone with the same name; NULL if there is none or several. */
static struct bp_diff_row *find_moved(struct bp_diff *diff, const struct bp_diff_row *gone) {
    struct bp_diff_row *found = NULL;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct bp_diff_row *row = &diff->rows[i];
        if (row->in_old || !row->in_new || !same_name(gone, row))
            continue;
        if (found)
            return NULL;
        found = row;
    }
    return found;
}

static void join_moved(struct bp_diff *diff) {
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct bp_diff_row *gone = &diff->rows[i];
        if (gone->kind != BP_DIFF_FUNCTION || !gone->in_old || gone->in_new)
            continue;
        struct bp_diff_row *moved = find_moved(diff, gone);
        if (!moved)
            continue;
        for (uint32_t k = diff->old_side.count; k < diff->run_count; k++)
            gone->values[k] = moved->values[k];
        gone->in_new = true;
        gone->function = moved->function;
        gone->category = moved->category;
        moved->in_new = false;
    }
}

/* Busy by what we saw, not on a CPU by its clock. Returns how long others had the CPU: the kernel
 * counts that from the birth of a thread on, in its start and in waits, too. */
static double find_lost_time(struct bp_diff_run *run) {
    double queue_s = 0;
    for (uint32_t i = 0; i < run->model->thread_count; i++) {
        const struct bp_model_thread *thread = &run->model->threads[i];
        double off_s = thread->busy_s - thread->cpu_s - thread->cuda_s;
        run->busy_s += thread->busy_s;
        if (thread->cpu_s > 0 && off_s > 0)
            run->lost_s += off_s;
        if (thread->has_clocks)
            queue_s += thread->runqueue_s;
    }
    return queue_s;
}

/* If several threads are busy at once they may have waited for each other: what another run would
 * lose is unknown then. So it is of other time without a CPU (the machine stood, or the program
 * waited where we cannot see it), of the starts of programs, which may come from a disk, and of a
 * stall in the time without a busy thread. */
static void find_quiet_wall(struct bp_diff_run *run) {
    const struct bp_model *model = run->model;
    double queue_s = find_lost_time(run);
    double busy_wall_s = fmax(model->wall.total_s - model->wall.idle_s - model->wall.start_s, 0);
    double rate = fmin(wall_rate(busy_wall_s, run->busy_s), 1);
    if (run->busy_s > ALONE * busy_wall_s)
        queue_s = 0;
    queue_s = fmin(queue_s, (1 - LEAST_QUIET) * model->wall.total_s);
    run->quiet_s = model->wall.total_s - queue_s;
    run->stray_s = fmax(fmax(model->wall.start_s, 0) + rate * run->lost_s - queue_s, 0);
    run->stray_s += QUEUE_DOUBT * queue_s;
    run->stall_s = fmin(model->wall.idle_s, STALL_S);
}

static int load(struct bp_diff *diff, const struct bp_runs *runs, uint32_t first,
                const struct bp_rules *rules, struct bp_error *error) {
    for (uint32_t i = 0; i < runs->count; i++) {
        diff->runs[first + i].model = bp_model_new(runs->path[i], rules, error);
        diff->runs[first + i].slowness = 1;
        if (!diff->runs[first + i].model)
            return -1;
        find_quiet_wall(&diff->runs[first + i]);
    }
    return 0;
}

struct bp_diff *bp_diff_new(const struct bp_runs *old_runs, const struct bp_runs *new_runs,
                            const struct bp_rules *rules, struct bp_error *error) {
    struct bp_diff *diff = bp_alloc(1, sizeof(*diff));
    struct collector collector = {.diff = diff};
    diff->old_side.count = old_runs->count;
    diff->new_side.count = new_runs->count;
    diff->run_count = old_runs->count + new_runs->count;
    diff->runs = bp_alloc(diff->run_count, sizeof(*diff->runs));
    if (load(diff, old_runs, 0, rules, error) ||
        load(diff, new_runs, old_runs->count, rules, error)) {
        bp_diff_free(diff);
        return NULL;
    }
    diff->old_side.began_ns = diff->runs[0].model->run.began_ns;
    if (new_runs->count)
        diff->new_side.began_ns = diff->runs[old_runs->count].model->run.began_ns;
    for (uint32_t i = 0; i < diff->run_count; i++)
        add_run(&collector, i);
    settle_presence(diff);
    join_moved(diff);
    bp_diff_mark_modes(diff);
    bp_diff_mark_choices(diff);
    bp_keys_fini(&collector.table);
    free(collector.key);
    return diff;
}

const char *bp_diff_name(const struct bp_diff_row *row) {
    return row->function ? bp_function_label(row->function) : row->name;
}

void bp_diff_free(struct bp_diff *diff) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        free(diff->rows[i].values);
    for (uint32_t i = 0; i < diff->run_count; i++)
        bp_model_free(diff->runs[i].model);
    free(diff->rows);
    free(diff->runs);
    free(diff);
}
