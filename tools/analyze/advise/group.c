/* SPDX-License-Identifier: MIT
 *
 * Advice from what the time was for: groups of functions, processes, single tiny functions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/memory.h"
#include "tools/page.h"
#include "tools/text.h"

/* A Python call of a native function through ctypes or an extension costs about this much more than
 * the function itself; a call of a Python function about a third of it (CPython 3.11). */
#define NATIVE_CALL_S 0.3e-6
#define PYTHON_CALL_S 0.1e-6
/* Fewer calls are no habit. */
#define MANY_CALLS 10000
/* A device that is used less than this waits for the host. */
#define IDLE_PART 0.2

const struct bp_group *bp_advise_group(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->group_count; i++)
        if (strcmp(model->groups[i].name, name) == 0)
            return &model->groups[i];
    return NULL;
}

static const char *caller_of(const struct bp_model *model, const struct bp_group *group) {
    if (group->caller_count == 0)
        return "the program";
    const struct bp_function *function = &model->functions[group->callers[0].function];
    return function->kind == BP_FUNC_ROOT ? "the program's own code" : function->name;
}

static uint32_t function_of(const struct bp_group *group) {
    return group->part_count ? group->parts[0].function : BP_NO_FUNCTION;
}

/* Samples do not tell; the functions that are counted do. */
static double in_tasks(const struct bp_model *model, const struct bp_group *group) {
    double self_s = 0;
    double task_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (strcmp(function->group, group->name) != 0)
            continue;
        self_s += function->self_s;
        task_s += function->task_s;
    }
    return self_s > task_s ? task_s / self_s : 1;
}

void bp_advise_by_group(struct bp_model *model, const struct bp_group *group, double saves_s,
                        char *what, char *why) {
    struct bp_advice *advice = bp_advise(model, function_of(group), saves_s, 0, what, why);
    if (advice)
        advice->in_tasks = in_tasks(model, group);
}

void bp_advise_logging(struct bp_model *model) {
    const struct bp_group *group = bp_advise_group(model, "logging");
    if (!group)
        return;
    const char *caller = caller_of(model, group);
    char calls[32];
    bp_advise_by_group(
        model, group, group->wall_s,
        group->calls == 1 ? bp_make_text("logging: 1 call, from %s", caller)
        : group->calls    ? bp_make_text("logging: %s calls, most of them from %s",
                                         bp_page_count(group->calls, calls), caller)
                          : bp_make_text("logging: most of it called from %s", caller),
        bp_make_text("raise the level, or ask whether it is enabled before the message is "
                     "made; inside a DSL function it is paid for every call"));
}

static double overhead_of(const struct bp_function *function) {
    double cost_s = function->module[0] ? PYTHON_CALL_S : NATIVE_CALL_S;
    bool tiny = function->calls >= MANY_CALLS && function->category == BP_DSL &&
                function->kind == BP_FUNC_CALL &&
                function->self_s < cost_s * (double)function->calls;
    return tiny ? cost_s * (double)function->calls : 0;
}

static bool has_python(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++)
        if (strncmp(bp_base_name(model->processes[i].profile->header.executable), "python", 6) == 0)
            return true;
    return false;
}

/* What calls cost is in the time of those who make them, and never more than that. */
static double bounded_overhead(const struct bp_model *model) {
    double *spent_s = bp_alloc(model->context_count, sizeof(*spent_s));
    double sum_s = 0;
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        const struct bp_function *function = &model->functions[context->function];
        if (function->calls)
            spent_s[context->parent] +=
                overhead_of(function) * (double)context->calls / (double)function->calls;
    }
    for (uint32_t i = 1; i < model->context_count; i++)
        sum_s += fmin(spent_s[i], model->contexts[i].wall_s);
    free(spent_s);
    return sum_s;
}

void bp_advise_tiny_functions(struct bp_model *model) {
    const struct bp_function *worst = NULL;
    uint32_t count = 0;
    bool python = has_python(model);
    for (uint32_t i = 0; python && i < model->function_count; i++) {
        double cost_s = overhead_of(&model->functions[i]);
        count += cost_s > 0;
        if (cost_s > 0 && (!worst || cost_s > overhead_of(worst)))
            worst = &model->functions[i];
    }
    if (!worst)
        return;
    char calls[32];
    bp_advise(model, (uint32_t)(worst - model->functions), bounded_overhead(model), 0,
              count == 1 ? bp_make_text("%s, a tiny function, is called from Python", worst->name)
                         : bp_make_text("%s and %u more tiny function%s are called from Python",
                                        worst->name, count - 1, count == 2 ? "" : "s"),
              bp_make_text("%s calls of %.0f ns each: the call costs more than the work; do "
                           "several in one call",
                           bp_page_count(worst->calls, calls),
                           1e9 * worst->self_s / (double)worst->calls));
}

static bool has_dsl(const struct bp_model *model) {
    return model->category_s[BP_DSL] > 0;
}

/* What it would save depends on what could be given to it: see the candidates. */
void bp_advise_idle_device(struct bp_model *model) {
    for (uint32_t i = 0; i < model->device_count; i++) {
        const struct bp_model_device *device = &model->devices[i];
        if (!(device->busy_s > 0) || device->busy_s > IDLE_PART * model->device_wall_s ||
            device->kernels_unknown)
            continue;
        char share[32];
        char number[24] = "";
        if (model->device_count > 1)
            snprintf(number, sizeof(number), "device %u, ", device->index);
        bp_advise_remark(model,
                         bp_make_text("%s%s%s was idle for %s of the wall", number,
                                      device->simulated ? "the simulated " : "", device->name,
                                      bp_page_share(model->device_wall_s - device->busy_s,
                                                    model->device_wall_s, share)),
                         bp_make_text("larger batches or more streams would use it%s",
                                      has_dsl(model) ? ": battprof report --by candidate" : ""));
    }
}
