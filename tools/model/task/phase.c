/* SPDX-License-Identifier: MIT
 *
 * Phases: where a program is in its work. Those that rules name are functions, and their time is
 * that of the nodes below; those that the program announces are ranges. In both an inner phase's
 * time is not the outer one's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

#define NO_PHASE UINT32_MAX

struct phases {
    struct bp_model *model;
    struct bp_task_work *work;
    struct bp_keys names;
    uint32_t **of_node; /* per thread; NULL where it has none */
    double **in_task;   /* per task that has any: per phase */
    uint32_t room;      /* of in_task's arrays */
};

static uint32_t put_phase(struct phases *phases, const char *name) {
    struct bp_model *model = phases->model;
    uint32_t number = bp_keys_put(&phases->names, name, strlen(name));
    if (number == model->phase_count) {
        struct bp_model_phase *fresh = BP_APPEND(model->phases, model->phase_count);
        fresh->name = name;
    }
    return number;
}

/* All names first: what is kept per task has a place for each. */
static void find_names(struct phases *phases) {
    for (uint32_t i = 0; i < phases->model->process_count; i++) {
        const struct bp_profile *profile = phases->model->processes[i].profile;
        for (uint32_t k = 0; k < profile->func_count; k++)
            if (profile->funcs[k].phase)
                put_phase(phases, bp_profile_string(profile, profile->funcs[k].phase));
        for (uint32_t k = 0; k < profile->task_count; k++)
            if (bp_task_is_range(&profile->tasks[k]))
                put_phase(phases, bp_profile_string(profile, profile->tasks[k].name));
    }
    phases->room = phases->model->phase_count;
}

static void add_to_task(struct phases *phases, uint32_t task, uint32_t phase, double s) {
    if (!phases->in_task[task])
        phases->in_task[task] = bp_alloc(phases->room, sizeof(double));
    phases->in_task[task][phase] += s;
}

/* A node's phase is its function's, or its parent's; parents come first. */
static uint32_t *find_node_phases(struct phases *phases, const struct bp_model_thread *thread) {
    const struct bp_profile *profile = phases->model->processes[thread->process].profile;
    const struct bp_profile_thread *source = thread->source;
    uint32_t *of_node = bp_alloc(source->node_count, sizeof(*of_node));
    bool any = false;
    for (uint32_t i = 0; i < source->node_count; i++) {
        const struct bp_func *func = &profile->funcs[source->nodes[i].func];
        of_node[i] = i ? of_node[source->nodes[i].parent] : NO_PHASE;
        if (func->phase)
            of_node[i] = put_phase(phases, bp_profile_string(profile, func->phase));
        if (func->phase && i > 0)
            phases->model->phases[of_node[i]].count += bp_node_calls(&source->nodes[i]);
        any |= of_node[i] != NO_PHASE;
    }
    if (any)
        return of_node;
    free(of_node);
    return NULL;
}

static void add_thread(struct phases *phases, uint32_t number) {
    struct bp_model *model = phases->model;
    const struct bp_model_thread *thread = &model->threads[number];
    const struct bp_thread_work *work = &model->work->threads[number];
    double rate = thread->busy_s > 0 ? thread->wall_s / thread->busy_s : 0;
    uint32_t *of_node = find_node_phases(phases, thread);
    phases->of_node[number] = of_node;
    for (uint32_t i = 0; of_node && i < thread->source->node_count; i++) {
        if (of_node[i] == NO_PHASE)
            continue;
        struct bp_model_phase *phase = &model->phases[of_node[i]];
        bool waits = model->functions[work->function[i]].kind == BP_FUNC_WAIT;
        phase->thread_s += work->self_s[i];
        phase->waiting_s += waits ? work->self_s[i] : 0;
        phase->wall_s += waits ? 0 : work->self_s[i] * rate;
        phase->idle_s += bp_model_node_idle(model, number, i, work->self_s[i]);
    }
}

static void add_task_nodes(struct phases *phases, uint32_t number) {
    const struct bp_model_task *task = &phases->model->tasks.list[number];
    struct bp_task_growth growth;
    if (task->thread == BP_NO_THREAD || !phases->of_node[task->thread])
        return;
    bp_task_growth_init(&growth, phases->model, &phases->work->sources[number], task);
    for (uint32_t i = 0; i < growth.count; i++) {
        uint32_t phase = phases->of_node[task->thread][growth.nodes[i].node];
        if (phase != NO_PHASE)
            add_to_task(phases, number, phase, growth.self_s[i]);
    }
    bp_task_growth_fini(&growth);
}

/* Ticks. A range without details does not know its waits; where one thread ran alone it was busy
 * but for them. */
static double range_idle(const struct phases *phases, uint32_t process,
                         const struct bp_task *range) {
    const struct bp_model *model = phases->model;
    double rate = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i].process == process && model->threads[i].source->slot == range->thread)
            rate = model->work->threads[i].idle_rate;
    if (range->flags & BP_TASK_DETAILED || model->thread_count > 1)
        return rate * (double)range->wait;
    double part = (double)range->part / (1 << BP_TREE_V_SHIFT);
    return rate * fmax((double)(range->end - range->start) - part, 0);
}

/* Adds a range to its phase, or, with the other sign, takes it from the one around it. */
static void add_range(struct phases *phases, uint32_t process, uint32_t range, uint32_t item,
                      double sign) {
    struct bp_model *model = phases->model;
    const struct bp_profile *profile = model->processes[process].profile;
    const struct bp_task *from = &profile->tasks[range];
    double tick_s = sign * model->processes[process].tick_s;
    double s = (double)(from->end - from->start) * tick_s;
    uint32_t number = put_phase(phases, bp_task_phase_name(profile, item));
    uint32_t task = bp_task_outer_task(profile, item);
    model->phases[number].thread_s += s;
    model->phases[number].wall_s += (double)from->part / (1 << BP_TREE_V_SHIFT) * tick_s;
    model->phases[number].idle_s += range_idle(phases, process, from) * tick_s;
    if (task != BP_NO_TASK)
        add_to_task(phases, bp_task_number(phases->work, process, task), number, s);
}

static void add_ranges(struct phases *phases, uint32_t process) {
    const struct bp_profile *profile = phases->model->processes[process].profile;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        if (!bp_task_is_phase(&profile->tasks[i]))
            continue;
        uint32_t outer = bp_task_outer_phase(profile, i);
        bool range = bp_task_is_range(&profile->tasks[i]);
        /* Where one call is in another, the nodes tell. */
        if (outer != BP_NO_TASK && (range || bp_task_is_range(&profile->tasks[outer])))
            add_range(phases, process, i, outer, -1);
        if (!range)
            continue;
        add_range(phases, process, i, i, 1);
        phases->model->phases[put_phase(phases, bp_task_phase_name(profile, i))].count++;
    }
}

/* Phases of what was done for a task in other threads are the task's. */
static void add_joined(struct phases *phases, uint32_t number) {
    uint32_t root = bp_task_root(phases->model, number);
    for (uint32_t i = 0; phases->in_task[number] && i < phases->room; i++)
        if (phases->in_task[number][i] > 0)
            add_to_task(phases, root, i, phases->in_task[number][i]);
}

static void finish_task(struct phases *phases, uint32_t number) {
    struct bp_model *model = phases->model;
    struct bp_model_task *task = &model->tasks.list[number];
    task->first_phase = model->tasks.phase_count;
    for (uint32_t i = 0; phases->in_task[number] && i < phases->room; i++) {
        double s = phases->in_task[number][i];
        if (!(s > 0))
            continue;
        struct bp_task_phase *fresh = BP_APPEND(model->tasks.phases, model->tasks.phase_count);
        *fresh = (struct bp_task_phase){i, s};
        if (!bp_task_counts(task))
            continue;
        model->phases[i].tasks++;
        model->phases[i].task_s += s;
        model->phases[i].samples += task->samples;
    }
    task->phase_count = model->tasks.phase_count - task->first_phase;
    free(phases->in_task[number]);
}

void bp_model_add_phases(struct bp_model *model, struct bp_task_work *work) {
    struct phases phases = {.model = model, .work = work};
    find_names(&phases);
    if (model->phase_count == 0) {
        bp_keys_fini(&phases.names);
        return;
    }
    phases.of_node = bp_alloc(model->thread_count, sizeof(*phases.of_node));
    phases.in_task = bp_alloc(model->tasks.count, sizeof(*phases.in_task));
    for (uint32_t i = 0; i < model->thread_count; i++)
        add_thread(&phases, i);
    for (uint32_t i = 0; i < model->tasks.count; i++)
        add_task_nodes(&phases, i);
    for (uint32_t i = 0; i < model->process_count; i++)
        add_ranges(&phases, i);
    bp_model_add_started(model, phases.of_node);
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (model->tasks.list[i].joined)
            add_joined(&phases, i);
    for (uint32_t i = 0; i < model->tasks.count; i++)
        finish_task(&phases, i);
    for (uint32_t i = 0; i < model->thread_count; i++)
        free(phases.of_node[i]);
    free(phases.of_node);
    free(phases.in_task);
    bp_keys_fini(&phases.names);
}
