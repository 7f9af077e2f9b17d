/* SPDX-License-Identifier: MIT
 *
 * Tasks of a profile. What they name and does not exist becomes nothing: a task without a thread, a
 * function or details. All details together are never more than there are items, whatever the
 * tasks claim. A file from before format 1.2 has none of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/items.h"
#include "profile/reader_internal.h"

/* Tasks before their details, and both before the nodes: the reverse of the order of writing. */
int bp_reader_load_tasks(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    int result = 0;
    profile->tasks = bp_reader_take(reader, BP_TASKS, &profile->task_count, &result);
    profile->task_nodes = bp_reader_take(reader, BP_TASK_NODES, &profile->task_node_count, &result);
    profile->task_folds = bp_reader_take(reader, BP_TASK_FOLDS, &profile->task_fold_count, &result);
    profile->variables = bp_reader_take(reader, BP_VARIABLES, &profile->variable_count, &result);
    profile->modules = bp_reader_take(reader, BP_MODULES, &profile->module_count, &result);
    return result;
}

static bool details_exist(const struct bp_profile *profile, const struct bp_task *task,
                          const struct bp_profile_thread *thread, uint64_t *left) {
    uint64_t end = (uint64_t)task->first_detail + task->detail_count;
    if (!thread || end > profile->task_node_count || task->detail_count > *left)
        return false;
    *left -= task->detail_count;
    for (uint64_t i = task->first_detail; i < end; i++)
        if (profile->task_nodes[i].node >= thread->node_count)
            return false;
    return true;
}

static void check_context(const struct bp_profile *profile, struct bp_task *task, uint32_t index,
                          const struct bp_profile_thread *thread) {
    if (!thread)
        task->thread = BP_NO_THREAD;
    if (!thread || task->node >= thread->node_count)
        task->node = BP_NO_NODE;
    if (task->func >= profile->func_count)
        task->func = BP_NO_FUNC;
    if (task->parent >= index)
        task->parent = BP_NO_TASK;
}

static void check_times(const struct bp_profile *profile, struct bp_task *task,
                        const struct bp_profile_thread *thread) {
    if (task->end == 0) {
        uint64_t end = profile->header.end ? profile->header.end : profile->latest;
        bool ended = thread && thread->info.state == BP_THREAD_ENDED;
        task->end = ended ? thread->info.end : end;
        task->flags |= BP_TASK_UNFINISHED;
    }
    if (task->end < task->start)
        task->end = task->start;
}

/* What a task that never ended has done: its thread's nodes as they are, with what is open, less
 * what they were when it began. The items are appended to the task nodes. */
struct growth {
    struct bp_profile *profile;
    const struct bp_profile_thread *thread;
    uint64_t *self; /* by node */
};

/* The calls that the task is in or has made have got their time up to the task's end. Of a range,
 * which has no call, all that are open: its base has what they had. */
static void add_open(struct growth *growth, struct bp_task *task) {
    const struct bp_profile_thread *thread = growth->thread;
    uint64_t end = task->end;
    for (uint32_t i = 0; i < thread->open_count; i++) {
        const struct bp_profile_call *call = &thread->open[i];
        uint64_t start = bp_entry_start(call->start, call->child, end);
        uint64_t whole = end > start ? end - start : 0;
        if (call->node < thread->node_count)
            growth->self[call->node] += whole > call->child ? whole - call->child : 0;
        end = start;
        if (task->func != BP_NO_FUNC && call->node == task->node && call->start >= task->start &&
            call->start <= task->end) {
            task->start = call->start; /* what came between the two was the profiler */
            return;
        }
    }
}

static void add_waiting(const struct growth *growth, struct bp_task *task,
                        const struct bp_task_node *grown) {
    uint32_t func = growth->thread->nodes[grown->node].func;
    if (growth->profile->funcs[func].kind == BP_FUNC_WAIT)
        task->wait += grown->self;
    else if (growth->profile->funcs[func].kind == BP_FUNC_IO)
        task->io += grown->self;
}

/* The innermost open call is there in any case: it goes on for as long as the process lived, which
 * others may know. */
static void append(struct growth *growth, struct bp_task *task, const struct bp_task_node *base,
                   uint32_t base_count) {
    struct bp_profile *profile = growth->profile;
    const struct bp_profile_thread *thread = growth->thread;
    uint32_t innermost = thread->open_count ? thread->open[0].node : 0;
    task->first_detail = profile->task_node_count;
    for (uint32_t i = 0; i < thread->node_count; i++) {
        struct bp_task_node grown = {.node = i, .self = growth->self[i]};
        grown.calls = (uint32_t)bp_node_calls(&thread->nodes[i]);
        grown.untimed = (uint32_t)thread->nodes[i].untimed;
        if (i < base_count) {
            grown.calls -= base[i].calls;
            grown.untimed -= base[i].untimed;
        }
        uint64_t before = i < base_count ? base[i].self : 0;
        grown.self -= before < grown.self ? before : grown.self;
        if (!grown.calls && !grown.self && i != innermost)
            continue;
        profile->task_nodes[profile->task_node_count++] = grown;
        add_waiting(growth, task, &grown);
    }
    task->detail_count = profile->task_node_count - task->first_detail;
    task->flags |= BP_TASK_DETAILED;
}

static int add_unfinished(struct bp_reader *reader, struct bp_task *task,
                          const struct bp_profile_thread *thread) {
    struct bp_profile *profile = reader->profile;
    void *base;
    uint32_t count;
    struct growth growth = {profile, thread, calloc(thread->node_count, sizeof(uint64_t))};
    size_t room = (size_t)profile->task_node_count + thread->node_count;
    void *grown = realloc(profile->task_nodes, room * sizeof(*profile->task_nodes));
    if (grown)
        profile->task_nodes = grown;
    int result = grown && growth.self ? 0 : -ENOMEM;
    if (result == 0)
        result = bp_reader_load(reader, bp_reader_find(reader, BP_TASK_NODES, thread->slot),
                                sizeof(struct bp_task_node), 0, &base, &count);
    if (result == 0) {
        for (uint32_t i = 0; i < thread->node_count; i++)
            growth.self[i] = thread->nodes[i].self;
        add_open(&growth, task);
        append(&growth, task, base, count);
        free(base);
    }
    free(growth.self);
    return result;
}

/* One of a thread at most has what it began with in the file. */
static int complete_unfinished(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    int result = 0;
    bool *done = calloc((size_t)profile->thread_count + 1, sizeof(*done));
    if (!done)
        return -ENOMEM;
    for (uint32_t i = profile->task_count; i-- > 0 && result == 0;) {
        struct bp_task *task = &profile->tasks[i];
        const struct bp_profile_thread *thread = bp_reader_thread(profile, task->thread);
        bool based = task->flags & BP_TASK_UNFINISHED && task->flags & BP_TASK_BASED;
        task->flags &= ~BP_TASK_BASED;
        if (!based || !thread || thread->info.state != BP_THREAD_LIVE ||
            done[thread - profile->threads])
            continue;
        done[thread - profile->threads] = true;
        result = add_unfinished(reader, task, thread);
    }
    free(done);
    return result;
}

int bp_reader_check_tasks(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    uint64_t left = profile->task_node_count;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        struct bp_task *task = &profile->tasks[i];
        const struct bp_profile_thread *thread = bp_reader_thread(profile, task->thread);
        check_context(profile, task, i, thread);
        bool open = task->end == 0;
        check_times(profile, task, thread);
        bool detailed = !open && (task->flags & BP_TASK_DETAILED);
        if (detailed && !details_exist(profile, task, thread, &left)) {
            reader->bad_items++;
            detailed = false;
        }
        if (!detailed) {
            task->flags &= ~BP_TASK_DETAILED;
            task->first_detail = task->detail_count = 0;
        }
    }
    for (uint32_t i = 0; i < profile->task_fold_count; i++)
        if (profile->task_folds[i].func >= profile->func_count)
            profile->task_folds[i].func = BP_NO_FUNC;
    return complete_unfinished(reader);
}
