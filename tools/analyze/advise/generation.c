/* SPDX-License-Identifier: MIT
 *
 * Code that is generated again for the same input. What a call was given is known of functions that
 * are called like generators (BP_TASK_INPUT), and of tasks whose function is in the group "code
 * generation": there the user has said which argument tells them apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/memory.h"
#include "tools/page.h"
#include "tools/text.h"

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
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        if (task->function == BP_NO_FUNCTION || !task->id[0] || task->dropped ||
            strcmp(model->functions[task->function].group, "code generation") != 0)
            continue;
        struct call call = {task->function, task->id, task->wall_s, true};
        if (!(call.wall_s > 0))
            call.wall_s = task->duration_s;
        add(calls, &call);
    }
}

static void add_inputs(struct calls *calls, struct bp_model *model,
                       const struct bp_model_process *process) {
    const struct bp_profile *profile = process->profile;
    uint32_t *functions = NULL;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        const struct bp_task *item = &profile->tasks[i];
        if (!(item->flags & BP_TASK_INPUT) || item->func == BP_NO_FUNC || !item->id)
            continue;
        if (!functions)
            functions = bp_model_map_functions(model, process);
        struct call call = {functions[item->func], bp_profile_string(profile, item->id),
                            (double)item->part / (1 << BP_TREE_V_SHIFT) * process->tick_s, false};
        add(calls, &call);
    }
    free(functions);
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

/* Of a native function only the first argument is known, and of any function only the calls that
 * found a place; both are said. */
static void advise(struct bp_model *model, const struct call *calls, uint32_t count) {
    const struct bp_function *function = &model->functions[calls[0].function];
    uint32_t inputs = 1;
    double saves_s = 0;
    const char *again = NULL;
    char others[96] = "";
    char text[32];
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
    if (function->calls > count)
        snprintf(others, sizeof(others), "; %s more %s within others or not comparable",
                 bp_page_count(function->calls - count, text),
                 function->calls - count == 1 ? "call was" : "calls were");
    bp_advise(model, calls[0].function, saves_s, 0,
              bp_make_text("%s generates code %u times for %u %s%s", function->name, count, inputs,
                           calls[0].task || function->module[0] ? "input" : "first argument",
                           inputs == 1 ? "" : "s"),
              bp_make_text("keep what was generated for an input; %s, for one, was generated "
                           "again%s",
                           again, others));
}

void bp_advise_generation(struct bp_model *model) {
    struct calls calls = {0};
    add_tasks(&calls, model);
    for (uint32_t i = 0; i < model->process_count; i++)
        add_inputs(&calls, model, &model->processes[i]);
    if (calls.count)
        qsort(calls.list, calls.count, sizeof(*calls.list), compare_calls);
    for (uint32_t first = 0, i = 1; i <= calls.count; i++) {
        if (i < calls.count && calls.list[i].function == calls.list[first].function)
            continue;
        advise(model, calls.list + first, i - first);
        first = i;
    }
    free(calls.list);
}
