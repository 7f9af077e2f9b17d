/* SPDX-License-Identifier: MIT
 *
 * Tasks over several threads and processes. A program that gives work to a pool often names a task
 * twice: in the thread that hands the work out and waits, and in the workers that do it, once for
 * each piece. Which piece belongs to which task is known
 *
 *     by id    both were given the same one, and the task waited meanwhile;
 *     by time  every piece ran while exactly one task waited.
 *
 * Such pieces are joined to their task: they are inner tasks of it, in other threads. Where neither
 * tells, the calls that do the work are the tasks, and those that only wait for them are outer
 * ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

/* Part of its time that a call waits at least which leaves the work to others. */
#define ONLY_WAITS 0.5
/* Part of a piece's time for which its task must have waited at least: a lock or a queue is short.
 */
#define HANDED 0.5
/* Clocks of processes agree to this, seconds. */
#define SLACK_S 50e-6

static bool is_top(const struct bp_model_task *task) {
    return task->parent == BP_NO_TASK;
}

static bool alike(const struct bp_model_task *a, const struct bp_model_task *b) {
    return a->function == b->function &&
           (a->function != BP_NO_FUNCTION || strcmp(a->name, b->name) == 0);
}

static bool contains(const struct bp_model_task *outer, const struct bp_model_task *inner) {
    return outer->start_s <= inner->start_s + SLACK_S &&
           outer->start_s + outer->duration_s + SLACK_S >= inner->start_s + inner->duration_s;
}

/* Whether a process is another, or was started by it or by one that it started. */
static bool descends(const struct bp_model *model, uint32_t process, uint32_t from) {
    int32_t pid = model->processes[from].profile->header.pid;
    for (uint32_t depth = 0; depth < model->process_count; depth++) {
        const struct bp_header *header = &model->processes[process].profile->header;
        uint32_t parent = 0;
        if (header->pid == pid)
            return true;
        while (parent < model->process_count &&
               model->processes[parent].profile->header.pid != header->parent_pid)
            parent++;
        if (parent == model->process_count)
            return false;
        process = parent;
    }
    return false;
}

static bool may_hand(const struct bp_model *model, const struct bp_model_task *task,
                     const struct bp_model_task *piece) {
    return task != piece && is_top(task) && task->thread != piece->thread &&
           task->thread != BP_NO_THREAD && task->waiting_s >= HANDED * piece->duration_s &&
           contains(task, piece) && descends(model, piece->process, task->process);
}

/* Outermost calls that have not ended, by start, while one goes through all tasks by start: a task
 * that handed a piece out is among them. There are no more than threads, so that looking at all of
 * them for every task is cheap. */
struct open {
    uint32_t *list;
    uint32_t count;
};

static void open_init(struct open *open, const struct bp_model *model) {
    *open = (struct open){.list = bp_alloc(model->tasks.count, sizeof(*open->list))};
}

static void open_fini(struct open *open) {
    free(open->list);
}

/* Closes those that ended before the task began. */
static void open_until(struct open *open, const struct bp_model *model, uint32_t number) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < open->count; i++) {
        const struct bp_model_task *task = &model->tasks.list[open->list[i]];
        if (task->start_s + task->duration_s + SLACK_S >= model->tasks.list[number].start_s)
            open->list[kept++] = open->list[i];
    }
    open->count = kept;
}

static void open_add(struct open *open, const struct bp_model *model, uint32_t number) {
    if (is_top(&model->tasks.list[number]))
        open->list[open->count++] = number;
}

/* The innermost task of the same id around it. Parents begin earlier, so there is no circle. */
static uint32_t find_by_id(const struct bp_model *model, const struct open *open, uint32_t number) {
    const struct bp_model_task *piece = &model->tasks.list[number];
    for (uint32_t i = open->count; piece->id[0] && i-- > 0;) {
        const struct bp_model_task *task = &model->tasks.list[open->list[i]];
        if (strcmp(task->id, piece->id) == 0 && may_hand(model, task, piece))
            return open->list[i];
    }
    return BP_NO_TASK;
}

static void join(struct bp_model *model, uint32_t piece, uint32_t task) {
    model->tasks.list[piece].parent = task;
    model->tasks.list[piece].joined = true;
}

static void join_by_id(struct bp_model *model) {
    struct open open;
    open_init(&open, model);
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        open_until(&open, model, i);
        uint32_t task =
            is_top(&model->tasks.list[i]) ? find_by_id(model, &open, i) : (uint32_t)BP_NO_TASK;
        if (task != BP_NO_TASK)
            join(model, i, task);
        open_add(&open, model, i);
    }
    open_fini(&open);
}

/* Calls of one function that are in no other task. */
struct level {
    const struct bp_model_task *first;
    double time_s;
    double waiting_s;
    uint32_t count;
};

struct levels {
    struct level *list;
    uint32_t count;
};

static struct level *find_level(struct levels *levels, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < levels->count; i++)
        if (alike(levels->list[i].first, task))
            return &levels->list[i];
    struct level *fresh = BP_APPEND(levels->list, levels->count);
    fresh->first = task;
    return fresh;
}

/* More levels are names of single solvers: they are no levels. */
#define MOST_LEVELS 8

static void find_levels(struct levels *levels, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->tasks.count && levels->count <= MOST_LEVELS; i++) {
        if (!is_top(&model->tasks.list[i]))
            continue;
        struct level *level = find_level(levels, &model->tasks.list[i]);
        level->time_s += model->tasks.list[i].duration_s;
        level->waiting_s += model->tasks.list[i].waiting_s;
        level->count++;
    }
}

static bool only_waits(const struct level *level) {
    return level->waiting_s > ONLY_WAITS * level->time_s;
}

static bool belongs(const struct bp_model_task *task, const struct level *level) {
    return is_top(task) && alike(task, level->first);
}

/* How many calls of the level hand out work while a piece runs; the last of them. */
static uint32_t count_around(const struct bp_model *model, const struct open *open,
                             const struct level *outer, uint32_t piece, uint32_t *last) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < open->count; i++) {
        const struct bp_model_task *task = &model->tasks.list[open->list[i]];
        if (alike(task, outer->first) && may_hand(model, task, &model->tasks.list[piece])) {
            *last = open->list[i];
            count++;
        }
    }
    return count;
}

enum around { OUTSIDE, ONE, SEVERAL };

/* What is around the pieces of a level: for some of them no call of the outer level, for all of
 * them exactly one, which `tasks` then has, or for some of them several. */
static enum around find_around(const struct bp_model *model, const struct level *outer,
                               const struct level *inner, uint32_t *tasks) {
    enum around around = ONE;
    struct open open;
    open_init(&open, model);
    for (uint32_t i = 0; around != OUTSIDE && i < model->tasks.count; i++) {
        open_until(&open, model, i);
        if (belongs(&model->tasks.list[i], inner)) {
            uint32_t count = count_around(model, &open, outer, i, &tasks[i]);
            around = count == 0 ? OUTSIDE : count > 1 ? SEVERAL : around;
        }
        open_add(&open, model, i);
    }
    open_fini(&open);
    return around;
}

static void join_by_time(struct bp_model *model, const struct level *inner, const uint32_t *tasks) {
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (belongs(&model->tasks.list[i], inner))
            join(model, i, tasks[i]);
}

static void mark_outer(struct bp_model *model, const struct level *outer) {
    for (uint32_t i = 0; i < model->tasks.count; i++)
        model->tasks.list[i].outer |= belongs(&model->tasks.list[i], outer);
}

/* Joins all pieces of a level, or none: half of them would be a wrong sum. */
static void compare_levels(struct bp_model *model, const struct level *outer,
                           const struct level *inner) {
    if (outer == inner || !only_waits(outer) || only_waits(inner) || inner->first->outer)
        return;
    uint32_t *tasks = bp_alloc(model->tasks.count, sizeof(*tasks));
    enum around around = find_around(model, outer, inner, tasks);
    if (around == ONE)
        join_by_time(model, inner, tasks);
    else if (around == SEVERAL)
        mark_outer(model, outer);
    free(tasks);
}

static void join_levels(struct bp_model *model) {
    struct levels levels = {0};
    find_levels(&levels, model);
    for (uint32_t i = 0; levels.count <= MOST_LEVELS && i < levels.count; i++)
        for (uint32_t k = 0; k < levels.count; k++)
            compare_levels(model, &levels.list[i], &levels.list[k]);
    free(levels.list);
}

uint32_t bp_task_root(const struct bp_model *model, uint32_t number) {
    while (model->tasks.list[number].parent != BP_NO_TASK)
        number = model->tasks.list[number].parent;
    return number;
}

/* From every task on, those that are joined to it. */
static void make_chains(struct bp_model *model, struct bp_task_work *work) {
    uint32_t *last = bp_alloc(model->tasks.count, sizeof(*last));
    work->next = bp_alloc(model->tasks.count, sizeof(*work->next));
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        work->next[i] = BP_NO_TASK;
        last[i] = i;
        if (!model->tasks.list[i].joined)
            continue;
        uint32_t root = bp_task_root(model, i);
        work->next[last[root]] = i;
        last[root] = i;
        model->tasks.list[root].inner++;
    }
    free(last);
}

void bp_model_join_tasks(struct bp_model *model, struct bp_task_work *work) {
    uint32_t threads = 0;
    for (uint32_t i = 1; i < model->tasks.count && !threads; i++)
        threads = model->tasks.list[i].thread != model->tasks.list[0].thread;
    if (threads) {
        join_by_id(model);
        join_levels(model);
    }
    make_chains(model, work);
}

/* What the task's own thread waited while its pieces ran is no work of anybody. */
static void hand_over(struct bp_model_task *task, const struct bp_model_task *piece,
                      double *until_s) {
    double from_s = fmax(piece->start_s, *until_s);
    double to_s = fmin(piece->start_s + piece->duration_s, task->start_s + task->duration_s);
    task->handed_s += fmax(to_s - from_s, 0);
    *until_s = fmax(*until_s, to_s);
}

static void add_piece(struct bp_model_task *task, const struct bp_model_task *piece) {
    task->inner_s += piece->duration_s;
    task->wall_s += piece->own.wall_s;
    task->idle_s += piece->own.idle_s;
    task->cpu_s += piece->own.cpu_s;
    task->overhead_s += piece->own.overhead_s;
    task->waiting_s += piece->waiting_s;
    task->io_s += piece->io_s;
    task->samples += piece->samples;
    for (int c = 0; c < BP_CATEGORIES; c++)
        task->category_s[c] += piece->category_s[c];
}

void bp_model_add_joined(struct bp_model *model, struct bp_task_work *work) {
    for (uint32_t i = model->tasks.count; i-- > 0;) {
        struct bp_model_task *task = &model->tasks.list[i];
        double until_s = task->start_s;
        double most_s = fmin(task->waiting_s, task->category_s[BP_FRAMEWORK]);
        task->own = (struct bp_task_own){task->wall_s, task->idle_s, task->cpu_s, task->overhead_s};
        for (uint32_t k = is_top(task) ? work->next[i] : BP_NO_TASK; k != BP_NO_TASK;
             k = work->next[k]) {
            hand_over(task, &model->tasks.list[k], &until_s);
            add_piece(task, &model->tasks.list[k]);
        }
        task->handed_s = fmin(task->handed_s, most_s);
        task->category_s[BP_FRAMEWORK] -= task->handed_s;
    }
}
