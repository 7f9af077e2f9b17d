/* SPDX-License-Identifier: MIT
 *
 * Tasks of a profile. What they name and does not exist becomes nothing: a task without a thread, a
 * function or details. All details together are never more than there are items, whatever the
 * tasks claim. A file from before format 1.2 has none of it.
 */
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

void bp_reader_check_tasks(struct bp_reader *reader) {
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
}
