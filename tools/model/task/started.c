/* SPDX-License-Identifier: MIT
 *
 * Phases that wait. A phase that starts a program or a pool and waits for it has its own thread's
 * time, but none of the wall: others were busy. Threads and processes that were started while it
 * was open are its own, but for the time after it ended; and for phases of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

#define NONE UINT32_MAX

/* From the beginning of a phase to its end. */
struct stretch {
    uint32_t process;
    uint32_t slot; /* of its thread */
    uint32_t phase;
    bool in_task;
    double start_s;
    double end_s;
};

struct started {
    struct bp_model *model;
    struct stretch *list; /* by start */
    uint32_t count;
    uint32_t *of_process; /* the stretch in which it was started, NONE */
};

static double seconds(const struct bp_model_process *process, uint64_t ticks) {
    return process->start_s +
           (double)(int64_t)(ticks - process->profile->header.start) * process->tick_s;
}

static uint32_t find_phase(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; name[0] && i < model->phase_count; i++)
        if (strcmp(model->phases[i].name, name) == 0)
            return i;
    return NONE;
}

static int compare_stretches(const void *a, const void *b) {
    const struct stretch *x = a;
    const struct stretch *y = b;
    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

static void find_stretches(struct started *started) {
    const struct bp_model *model = started->model;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        for (uint32_t k = 0; k < process->profile->task_count; k++) {
            const struct bp_task *item = &process->profile->tasks[k];
            uint32_t phase = find_phase(model, bp_task_phase_name(process->profile, k));
            if (phase == NONE)
                continue;
            struct stretch *fresh = BP_APPEND(started->list, started->count);
            *fresh = (struct stretch){
                .process = i,
                .slot = item->thread,
                .phase = phase,
                .in_task = bp_task_outer_task(process->profile, k) != BP_NO_TASK,
                .start_s = seconds(process, item->start),
                .end_s = seconds(process, item->end ? item->end : process->end),
            };
        }
    }
    if (started->count)
        qsort(started->list, started->count, sizeof(*started->list), compare_stretches);
}

/* The wall in which a phase was open, wherever that was. */
static void add_open(struct started *started) {
    double *until_s = bp_alloc(started->model->phase_count, sizeof(*until_s));
    for (uint32_t i = 0; i < started->count; i++) {
        const struct stretch *stretch = &started->list[i];
        double from_s = fmax(stretch->start_s, until_s[stretch->phase]);
        started->model->phases[stretch->phase].open_s += fmax(stretch->end_s - from_s, 0);
        until_s[stretch->phase] = fmax(until_s[stretch->phase], stretch->end_s);
    }
    free(until_s);
}

/* What two stretches of time have in common. */
static double common(double start_s, double end_s, double other_start_s, double other_end_s) {
    return fmax(fmin(end_s, other_end_s) - fmax(start_s, other_start_s), 0);
}

/* What the thread of a stretch spent in tasks meanwhile; these are by start. */
static double in_tasks(const struct bp_model *model, const struct stretch *stretch) {
    double s = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->start_s >= stretch->end_s)
            break;
        if (task->process == stretch->process && bp_task_counts(task) &&
            task->thread != BP_NO_THREAD &&
            model->threads[task->thread].source->slot == stretch->slot)
            s += common(stretch->start_s, stretch->end_s, task->start_s,
                        task->start_s + task->duration_s);
    }
    return s;
}

/* What a program does before its first task or after its last one it may do once; what it does
 * between them it does for each. */
static void add_between(const struct started *started) {
    struct bp_model *model = started->model;
    double *outside_s = bp_alloc(model->phase_count, sizeof(*outside_s));
    double first_s = INFINITY;
    double last_s = -INFINITY;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!bp_task_counts(task))
            continue;
        first_s = fmin(first_s, task->start_s);
        last_s = fmax(last_s, task->start_s + task->duration_s);
    }
    for (uint32_t i = 0; i < started->count; i++) {
        const struct stretch *stretch = &started->list[i];
        if (stretch->in_task)
            continue;
        double tasks_s = in_tasks(model, stretch);
        double between_s = common(stretch->start_s, stretch->end_s, first_s, last_s);
        outside_s[stretch->phase] += fmax(stretch->end_s - stretch->start_s - tasks_s, 0);
        model->phases[stretch->phase].between += fmax(between_s - tasks_s, 0);
    }
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (outside_s[i] > 0)
            model->phases[i].between /= outside_s[i];
    free(outside_s);
}

/* The innermost stretch of a process at an instant. */
static uint32_t find_stretch(const struct started *started, uint32_t process, double at_s) {
    for (uint32_t i = started->count; i-- > 0;)
        if (started->list[i].process == process && started->list[i].start_s <= at_s &&
            started->list[i].end_s >= at_s)
            return i;
    return NONE;
}

/* The program that the parent was at that time; NONE if it is not here. */
static uint32_t find_parent(const struct bp_model *model, uint32_t number) {
    uint32_t parent = NONE;
    for (uint32_t i = 0; i < number; i++)
        if (model->processes[i].profile->header.pid ==
            model->processes[number].profile->header.parent_pid)
            parent = i;
    return parent;
}

/* Parents come first: processes are by start. */
static void find_processes(struct started *started) {
    const struct bp_model *model = started->model;
    started->of_process = bp_alloc(model->process_count, sizeof(*started->of_process));
    for (uint32_t i = 0; i < model->process_count; i++) {
        uint32_t parent = find_parent(model, i);
        started->of_process[i] = NONE;
        if (parent == NONE)
            continue;
        uint32_t stretch = find_stretch(started, parent, model->processes[i].start_s);
        started->of_process[i] = stretch == NONE ? started->of_process[parent] : stretch;
    }
}

/* The part of a life that lies in the stretch. */
static double part_within(const struct stretch *stretch, double start_s, double end_s) {
    double within_s = fmin(end_s, stretch->end_s) - fmax(start_s, stretch->start_s);
    return end_s > start_s ? fmin(fmax(within_s / (end_s - start_s), 0), 1) : 1;
}

/* Per thread, what its tasks have of the wall: a new array. */
static double *walls_in_tasks(const struct bp_model *model) {
    double *s = bp_alloc(model->thread_count, sizeof(*s));
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->thread != BP_NO_THREAD && bp_task_is_outermost(task))
            s[task->thread] += task->wall_s;
    }
    return s;
}

/* A thread's wall outside of phases of its own. */
static double wall_of_thread(const struct bp_model *model, uint32_t number,
                             const uint32_t *of_node) {
    const struct bp_model_thread *thread = &model->threads[number];
    const struct bp_thread_work *work = &model->work->threads[number];
    double rate = thread->busy_s > 0 ? thread->wall_s / thread->busy_s : 0;
    double wall_s = 0;
    for (uint32_t i = 0; i < thread->source->node_count; i++) {
        bool waits = model->functions[work->function[i]].kind == BP_FUNC_WAIT;
        if (of_node && of_node[i] != NONE)
            continue;
        wall_s +=
            waits ? bp_model_node_idle(model, number, i, work->self_s[i]) : work->self_s[i] * rate;
    }
    return wall_s;
}

static void add_thread(struct started *started, uint32_t number, const uint32_t *of_node,
                       double tasks_s) {
    struct bp_model *model = started->model;
    const struct bp_model_thread *thread = &model->threads[number];
    const struct bp_model_process *process = &model->processes[thread->process];
    double start_s = seconds(process, thread->source->info.start);
    bool main = thread->source->info.tid == process->profile->header.pid;
    uint32_t at = main ? NONE : find_stretch(started, thread->process, start_s);
    if (at == NONE)
        at = started->of_process[thread->process];
    if (at == NONE)
        return;
    double wall_s = wall_of_thread(model, number, of_node);
    double part = part_within(&started->list[at], start_s, start_s + thread->lifetime_s);
    struct bp_model_phase *phase = &model->phases[started->list[at].phase];
    phase->started_s += part * wall_s;
    phase->started_task_s += part * fmin(tasks_s, wall_s);
}

void bp_model_add_started(struct bp_model *model, uint32_t *const *of_node) {
    struct started started = {.model = model};
    find_stretches(&started);
    add_open(&started);
    add_between(&started);
    find_processes(&started);
    double *tasks_s = walls_in_tasks(model);
    for (uint32_t i = 0; started.count && i < model->thread_count; i++)
        add_thread(&started, i, of_node[i], tasks_s[i]);
    free(tasks_s);
    free(started.list);
    free(started.of_process);
}
