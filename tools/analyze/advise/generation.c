/* SPDX-License-Identifier: MIT
 *
 * Code that is generated again for the same input. What a call was given is known of functions that
 * are called like generators (BP_TASK_INPUT), and of tasks whose function is in the group "code
 * generation": there the user has said which argument tells them apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* One call. */
struct call {
    uint32_t function;
    const char *input;
    double wall_s;
    bool task;
};

struct calls {
    struct call *list;
    uint32_t count;
};

static void add(struct calls *calls, const struct call *call) {
    struct call *fresh = BP_APPEND(calls->list, calls->count);
    *fresh = *call;
}

static void add_tasks(struct calls *calls, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->function == BP_NO_FUNCTION || !task->id[0] || task->dropped ||
            strcmp(model->functions[task->function].group, "code generation") != 0)
            continue;
        struct call call = {task->function, task->id, task->wall_s, true};
        if (!(call.wall_s > 0))
            call.wall_s = task->duration_s;
        add(calls, &call);
    }
}

static void add_inputs(struct calls *calls, const struct bp_model_process *process) {
    const struct bp_profile *profile = process->profile;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        const struct bp_task *item = &profile->tasks[i];
        if (!(item->flags & BP_TASK_INPUT) || item->func == BP_NO_FUNC || !item->id)
            continue;
        struct call call = {process->functions[item->func], bp_profile_string(profile, item->id),
                            (double)item->part / (1 << BP_TREE_V_SHIFT) * process->tick_s, false};
        add(calls, &call);
    }
}

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a;
    const struct call *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    int order = strcmp(x->input, y->input);
    if (order)
        return order;
    return x->wall_s > y->wall_s ? -1 : x->wall_s < y->wall_s;
}

/* Only the first argument of a native function is known, and of any function only the calls that
 * found a place; both are said. */
static void advise(struct bp_analysis *analysis, const struct call *calls, uint32_t count) {
    const struct bp_model *model = analysis->model;
    const struct bp_function *function = &model->functions[calls[0].function];
    uint32_t inputs = 1;
    double saves_s = 0;
    const char *again = NULL;
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(calls[i].input, calls[i - 1].input) != 0) {
            inputs++;
            continue;
        }
        saves_s += calls[i].wall_s;
        again = calls[i].input;
    }
    if (!again)
        return;
    struct bp_text why = {0};
    bp_text_add(&why, "keep what was generated for an input; %s, for example, was generated again",
                again);
    if (function->calls > count)
        bp_text_add(&why, "; %s more %s within others or not comparable",
                    BP_COUNT(function->calls - count),
                    function->calls - count == 1 ? "call was" : "calls were");
    bp_advise(analysis, calls[0].function, saves_s, 0,
              bp_make_text("%s generates code %u times for %u %s%s", function->name, count, inputs,
                           calls[0].task || function->module[0] ? "input" : "first argument",
                           inputs == 1 ? "" : "s"),
              bp_text_take(&why));
}

void bp_advise_generation(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct calls calls = {0};
    add_tasks(&calls, model);
    for (uint32_t i = 0; i < model->process_count; i++)
        add_inputs(&calls, &model->processes[i]);
    if (calls.count)
        qsort(calls.list, calls.count, sizeof(*calls.list), compare_calls);
    for (uint32_t first = 0, i = 1; i <= calls.count; i++) {
        if (i < calls.count && calls.list[i].function == calls.list[first].function)
            continue;
        advise(analysis, calls.list + first, i - first);
        first = i;
    }
    free(calls.list);
}
