/* SPDX-License-Identifier: MIT
 *
 * What a task cost the wall: its part of it while it was busy, and what nobody was busy in because
 * of it. Idle time is recorded by the thread that ended it, not by task: a thread's tasks share it
 * as they waited, and never have more of it than that. Waiting for Python's GIL is no part of it,
 * since another thread ran meanwhile.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

static double own_waiting(const struct bp_model *model, const struct bp_model_task *task) {
    double s = task->waiting_s;
    for (uint32_t i = 0; i < task->function_count; i++) {
        const struct bp_task_function *row = &model->tasks.functions[task->first_function + i];
        if (model->functions[row->function].gil)
            s -= row->self_s;
    }
    return fmax(s, 0);
}

/* The end of the run in which nobody was busy any more: no thread was left to record it. It belongs
 * to the tasks that were still running. */
static double last_idle(const struct bp_model *model) {
    double s = model->wall.idle_s;
    uint32_t running = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        s -= model->threads[i].idle_s;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        running += model->tasks.list[i].unfinished && model->tasks.list[i].parent == BP_NO_TASK;
    return running ? fmax(s, 0) / running : 0;
}

void bp_model_add_task_costs(struct bp_model *model) {
    double *idle_s = bp_alloc(model->thread_count, sizeof(*idle_s));
    double *waiting_s = bp_alloc(model->thread_count, sizeof(*waiting_s));
    double last_s = last_idle(model);
    for (uint32_t i = 0; i < model->thread_count; i++)
        idle_s[i] = model->threads[i].idle_s;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->thread == BP_NO_THREAD || !bp_task_is_outermost(task))
            continue;
        waiting_s[task->thread] += own_waiting(model, task);
        idle_s[task->thread] += task->unfinished ? last_s : 0;
    }
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        struct bp_model_task *task = &model->tasks.list[i];
        if (task->thread == BP_NO_THREAD || !(waiting_s[task->thread] > 0))
            continue;
        double part = fmin(idle_s[task->thread] / waiting_s[task->thread], 1);
        task->idle_s = part * own_waiting(model, task);
    }
    free(idle_s);
    free(waiting_s);
}

double bp_task_cost(const struct bp_model_task *task) {
    return task->wall_s + task->idle_s;
}

double bp_task_surplus(const struct bp_model *model, const struct bp_model_task *task) {
    double usual_s = model->tasks.summary.median_s;
    if (!(task->duration_s > usual_s))
        return 0;
    return bp_task_cost(task) * (1 - usual_s / task->duration_s);
}

#define MOSTLY 0.5

bool bp_task_is_elsewhere(const struct bp_model_task *task) {
    return task->inner == 0 && task->category_s[BP_DSL] < 0.01 * task->duration_s &&
           task->waiting_s > MOSTLY * task->duration_s;
}
