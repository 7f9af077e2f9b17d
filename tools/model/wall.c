/* SPDX-License-Identifier: MIT
 *
 * The wall split. A thread's part of the wall was recorded by the target while it ran (see bp_tree
 * in format.h); what is left to do is to add the stretch that was open at the end, to divide each
 * part among the thread's functions in proportion to their busy time, and to check the sum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/tree.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/internal.h"

static double v_ticks(uint64_t v) {
    return (double)v / (1 << BP_TREE_V_SHIFT);
}

static void add_tree(struct bp_model *model, const struct bp_model_process *owner) {
    struct bp_model_work *work = model->work;
    if (!owner->profile->tree)
        return;
    struct bp_wall_tree *tree = BP_APPEND(work->trees, model->wall.tree_count);
    tree->owner = owner;
    tree->start = owner->profile->header.start;
    tree->end = owner->end;
    tree->has_session = owner->profile->header.flags & BP_SESSION;
}

static bool same_directory(const char *a, const char *b) {
    a += strncmp(a, "./", 2) == 0 ? 2 : 0;
    b += strncmp(b, "./", 2) == 0 ? 2 : 0;
    ptrdiff_t length = bp_base_name(a) - a;
    return bp_base_name(b) - b == length && strncmp(a, b, (size_t)length) == 0;
}

/* NULL if the process's wall page is not among the files. */
static struct bp_wall_tree *tree_of(const struct bp_model *model,
                                    const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    if (header->flags & BP_LOST_TREE)
        return NULL;
    for (uint32_t i = 0; i < model->wall.tree_count; i++) {
        struct bp_wall_tree *tree = &model->work->trees[i];
        if (tree->owner == process)
            return tree;
        if (header->tree[0] && same_directory(process->path, tree->owner->path) &&
            strcmp(bp_base_name(header->tree), bp_base_name(tree->owner->path)) == 0)
            return tree;
    }
    return NULL;
}

/* A session knows when the run began and ended; without one the processes say it. */
void bp_model_find_trees(struct bp_model *model) {
    for (uint32_t i = 0; i < model->session_count; i++)
        add_tree(model, &model->sessions[i]);
    for (uint32_t i = 0; i < model->process_count; i++)
        add_tree(model, &model->processes[i]);
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        struct bp_wall_tree *tree = tree_of(model, process);
        if (!tree || (tree->has_session && !tree->owner->killed))
            continue;
        if (process->profile->header.start < tree->start)
            tree->start = process->profile->header.start;
        if (process->end > tree->end)
            tree->end = process->end;
    }
}

/* Where V stood when the process ended. */
static uint64_t end_v(const struct bp_model_process *process, const struct bp_wall_tree *tree) {
    const struct bp_tree *page = tree->owner->profile->tree;
    uint64_t idle;
    if (process->end_v)
        return process->end_v;
    return bp_tree_at(page->word, page->start, process->end, &idle).v;
}

/* Its part of the wall; `paused`: of that, what fell into pauses. */
static double recorded_part(const struct bp_model_process *process, const struct bp_thread *info,
                            const struct bp_wall_tree *tree, double *paused) {
    double ticks = v_ticks(info->v);
    /* One that ended while its process did may not have left the page: in a pause that matters. */
    bool there = info->state != BP_THREAD_ENDED || process->profile->header.pauses;
    bool busy = info->in_tree && info->wait_entry == 0 && there && tree;
    uint64_t v = busy ? end_v(process, tree) : 0;
    if (busy)
        ticks += v > info->v_since ? v_ticks(v - info->v_since) : 0;
    double most = v_ticks(bp_model_paused_v(&process->profile->header, info, busy, v));
    *paused = fmin(most, ticks) * process->tick_s;
    return ticks * process->tick_s - *paused;
}

/* When the thread was last busy: its end, the beginning of its last wait, or its process's end. */
static uint64_t last_busy(const struct bp_model_process *process,
                          const struct bp_profile_thread *thread) {
    uint64_t ticks = process->end;
    if (thread->info.state == BP_THREAD_ENDED)
        return thread->info.end;
    for (uint32_t i = 0; i < thread->open_count; i++) {
        const struct bp_node *node = &thread->nodes[thread->open[i].node];
        if (process->profile->funcs[node->func].kind == BP_FUNC_WAIT)
            ticks =
                thread->open[i].start - thread->missed; /* the outermost wins, as in wait_entry */
    }
    return ticks;
}

/* Idle time is recorded by the thread that ends it; after the last one nobody does. */
static uint64_t last_busy_in(const struct bp_model *model, const struct bp_wall_tree *tree) {
    uint64_t latest = 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        const struct bp_model_process *process = &model->processes[thread->process];
        if (tree_of(model, process) != tree)
            continue;
        uint64_t ticks = last_busy(process, thread->source);
        latest = ticks > latest ? ticks : latest;
    }
    return latest;
}

/* The part of the first process's constructor before its main thread joined: our cost, not its. */
static uint64_t constructor_before(const struct bp_model *model, const struct bp_wall_tree *tree,
                                   uint64_t joined) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        if (tree_of(model, &model->processes[i]) != tree)
            continue;
        uint64_t part = joined > header->start ? joined - header->start : 0;
        if (part > header->startup)
            part = header->startup;
        return part > header->startup_queued[0] ? part - header->startup_queued[0] : 0;
    }
    return 0;
}

/* When the last process of the tree ended: from then on nobody could wait. */
static uint64_t last_end_in(const struct bp_model *model, const struct bp_wall_tree *tree) {
    uint64_t latest = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        if (tree_of(model, process) == tree && process->end > latest)
            latest = process->end;
    }
    return latest;
}

/* Without a busy thread at the end: waiting as long as there was a process, then its end. */
static void add_last_idle(struct bp_model *model, const struct bp_wall_tree *tree, uint64_t latest,
                          uint64_t joined) {
    const struct bp_tree *page = tree->owner->profile->tree;
    double tick_s = tree->owner->tick_s;
    uint64_t closed = page->closed ? page->closed : tree->end;
    uint64_t idle = page->closed                            ? page->closed_idle
                    : latest > joined && latest < tree->end ? tree->end - latest
                                                            : 0;
    uint64_t end = last_end_in(model, tree);
    uint64_t ending = end && closed > end ? closed - end : 0;
    if (ending > idle)
        ending = idle;
    uint64_t paused = bp_model_paused_idle(model, closed - idle, closed - ending);
    model->wall.start_s += (double)ending * tick_s;
    model->wall.paused_s += (double)paused * tick_s;
    model->wall.idle_s += (double)(idle - ending - paused) * tick_s;
}

/* The two ends of the run: before the first thread, and after the last. */
static void add_edges(struct bp_model *model, const struct bp_wall_tree *tree) {
    const struct bp_tree *page = tree->owner->profile->tree;
    double tick_s = tree->owner->tick_s;
    uint64_t joined = page->first_join ? page->first_join : tree->start; /* nobody: unknown */
    uint64_t latest = last_busy_in(model, tree);
    if (joined > tree->end)
        joined = tree->end;
    if (joined > tree->start) {
        double own_s = (double)constructor_before(model, tree, joined) * tick_s;
        model->wall.start_s += (double)(joined - tree->start) * tick_s - own_s;
        model->wall.overhead_s += own_s;
    }
    add_last_idle(model, tree, latest, joined);
    model->wall.total_s += (double)(tree->end - tree->start) * tick_s;
}

/* The program that the process was before it became this one by exec; NULL if there is none. */
static const struct bp_model_process *before_exec(const struct bp_model *model,
                                                  const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    const struct bp_model_process *last = NULL;
    for (uint32_t i = 0; process->continues && i < model->process_count; i++) {
        const struct bp_model_process *other = &model->processes[i];
        const struct bp_header *before = &other->profile->header;
        if (before->pid == header->pid && before->state == BP_EXECED &&
            before->image < header->image && other->end <= header->start &&
            strcmp(before->boot_id, header->boot_id) == 0 && (!last || other->end > last->end))
            last = other;
    }
    return last;
}

/* Idle time that a program's first thread ended: while the kernel and the loader started it, after
 * exec. Nobody waited for anything. */
static double exec_time(const struct bp_model *model, const struct bp_model_thread *thread) {
    const struct bp_model_process *process = &model->processes[thread->process];
    const struct bp_thread *info = &thread->source->info;
    const struct bp_model_process *before =
        info->tid == process->profile->header.pid ? before_exec(model, process) : NULL;
    uint64_t gap = before && info->start > before->end ? info->start - before->end : 0;
    return (double)(gap < info->idle ? gap : info->idle) * process->tick_s;
}

static void use_trees(struct bp_model *model) {
    for (uint32_t i = 0; i < model->wall.tree_count; i++)
        add_edges(model, &model->work->trees[i]);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        struct bp_model_thread *thread = &model->threads[i];
        const struct bp_model_process *process = &model->processes[thread->process];
        const struct bp_wall_tree *tree = tree_of(model, process);
        if (!tree)
            continue;
        thread->wall_s =
            recorded_part(process, &thread->source->info, tree, &thread->paused_wall_s);
        model->wall.paused_s += thread->paused_wall_s;
        double exec_s = exec_time(model, thread);
        thread->idle_s = (double)thread->source->info.idle * process->tick_s - exec_s;
        model->wall.idle_s += thread->idle_s;
        model->wall.start_s += exec_s;
    }
}

static double span_of_processes(const struct bp_model *model) {
    const struct bp_model_process *list = model->process_count ? model->processes : model->sessions;
    uint32_t count = model->process_count ? model->process_count : model->session_count;
    uint64_t start = UINT64_MAX;
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].profile->header.start < start)
            start = list[i].profile->header.start;
        if (list[i].end > end)
            end = list[i].end;
    }
    return end > start ? (double)(end - start) * list[0].tick_s : 0;
}

/* Without the wall page: exact for one thread; for more, each gets what it recorded of the page it
 * had, or failing that by its busy time, scaled to fill the wall. */
static void use_no_tree(struct bp_model *model) {
    double sum = 0;
    model->wall.total_s = span_of_processes(model);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        struct bp_model_thread *thread = &model->threads[i];
        const struct bp_model_process *process = &model->processes[thread->process];
        thread->wall_s =
            recorded_part(process, &thread->source->info, NULL, &thread->paused_wall_s);
        thread->idle_s = (double)thread->source->info.idle * process->tick_s;
        model->wall.idle_s += thread->idle_s;
        sum += thread->wall_s;
    }
    bool recorded = sum > 0 && model->thread_count > 1;
    for (uint32_t i = 0; !recorded && i < model->thread_count; i++)
        sum += model->threads[i].wall_s = model->threads[i].busy_s;
    if (model->thread_count == 1) {
        model->wall.idle_s = model->threads[0].idle_s = model->threads[0].waiting_s;
        model->wall.paused_s = model->threads[0].paused_s;
        return;
    }
    double room = model->wall.total_s - model->wall.idle_s;
    for (uint32_t i = 0; sum > 0 && i < model->thread_count; i++)
        model->threads[i].wall_s *= room > 0 ? room / sum : 0;
}

/* A thread's functions share its part; so does the profiler's overhead. */
static void share_part(struct bp_model *model, uint32_t number) {
    struct bp_model_thread *thread = &model->threads[number];
    const struct bp_thread_work *work = &model->work->threads[number];
    double rate = thread->busy_s > 0 ? thread->wall_s / thread->busy_s : 0;
    model->wall.overhead_s += thread->overhead_s * rate;
    for (uint32_t i = 0; i < thread->source->node_count; i++) {
        struct bp_function *function = &model->functions[work->function[i]];
        double part = function->kind == BP_FUNC_WAIT ? 0 : work->self_s[i] * rate;
        if (rate == 0 && i == 0)
            part = thread->wall_s;
        function->wall_s += part;
        model->contexts[work->context[i]].wall_s += part;
        thread->contexts[i].wall_s = part;
        struct bp_node_split parts = bp_model_divide(work, i, part);
        double rest = part - parts.transfer_s - parts.wait_s[BP_DSL] - parts.wait_s[BP_FRAMEWORK];
        model->wall.category_s[BP_TRANSFER] += parts.transfer_s;
        model->wall.category_s[BP_DSL] += parts.wait_s[BP_DSL];
        model->wall.category_s[BP_FRAMEWORK] += parts.wait_s[BP_FRAMEWORK];
        model->wall.category_s[function->category] += rest;
        model->wall.kernel_wait_s += parts.wait_s[BP_FRAMEWORK];
        model->wall.dsl_kernel_wait_s += parts.wait_s[BP_DSL];
        if (function->cuda && function->category == BP_FRAMEWORK)
            model->wall.cuda_api_s += rest;
    }
    model->processes[thread->process].wall_s += thread->wall_s;
}

/* Where none of our code ran, nothing is known of a program but how long it took. */
static void claim_nothing(struct bp_model *model) {
    model->wall.idle_s = model->wall.start_s = 0;
}

void bp_model_split_wall(struct bp_model *model) {
    if (model->wall.tree_count)
        use_trees(model);
    else
        use_no_tree(model);
    if (!model->process_count)
        claim_nothing(model);
    double sum = model->wall.idle_s + model->wall.start_s + model->wall.overhead_s;
    sum += model->wall.paused_s;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        share_part(model, i);
        sum += model->threads[i].wall_s;
    }
    model->wall.category_s[BP_FRAMEWORK] += model->wall.idle_s + model->wall.start_s;
    model->wall.unsplit_s = model->wall.total_s - sum;
    uint64_t origin = model->wall.tree_count ? model->work->trees[0].start
                      : model->process_count ? model->processes[0].profile->header.start
                                             : 0;
    const struct bp_header *first = model->wall.tree_count
                                        ? &model->work->trees[0].owner->profile->header
                                    : model->process_count ? &model->processes[0].profile->header
                                                           : NULL;
    for (uint32_t i = 0; i < model->process_count; i++) {
        struct bp_model_process *process = &model->processes[i];
        const struct bp_header *header = &process->profile->header;
        process->start_s = (double)(int64_t)(header->start - origin);
        process->start_s *= process->tick_s;
        if (strcmp(header->boot_id, first->boot_id) != 0) /* another machine's ticks */
            process->start_s =
                1e-9 * (double)(int64_t)(header->first.realtime_ns - first->first.realtime_ns);
    }
}
