/* SPDX-License-Identifier: MIT
 *
 * Advice from what the time was for: groups of functions, processes, single tiny functions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/analyze/cause.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* A Python call of a native function through ctypes or an extension costs about this much more than
 * the function itself; a call of a Python function about a third of it (CPython 3.11). */
#define NATIVE_CALL_S 0.3e-6
#define PYTHON_CALL_S 0.1e-6
/* Fewer calls are no habit. */
#define MANY_CALLS 10000
/* Part of the loggers' time from which on messages were wanted. */
#define WANTED 0.1

const struct bp_group *bp_advise_group(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->group_count; i++)
        if (strcmp(model->groups[i].name, name) == 0)
            return &model->groups[i];
    return NULL;
}

static const char *caller_of(const struct bp_model *model, const struct bp_group *group) {
    if (group->caller_count == 0)
        return "the program";
    return bp_function_label(&model->functions[group->callers[0].function]);
}

static uint32_t function_of(const struct bp_group *group) {
    return group->part_count ? group->parts[0].function : BP_NO_FUNCTION;
}

/* Samples do not tell; the functions that are counted do. */
double bp_advise_in_tasks(const struct bp_model *model, const struct bp_group *group) {
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

void bp_advise_by_group(struct bp_analysis *analysis, const struct bp_group *group, double saves_s,
                        char *what, char *why) {
    struct bp_advice *advice = bp_advise(analysis, function_of(group), saves_s, 0, what, why);
    if (advice)
        advice->in_tasks = bp_advise_in_tasks(analysis->model, group);
}

/* Messages that were built for a level that is off are an advice already, and the logger's share in
 * it; a message that was wanted is seen below some line. */
static bool is_level_off(const struct bp_analysis *analysis, const struct bp_group *group) {
    const struct bp_model *model = analysis->model;
    double logged_s = 0;
    bool advised = false;
    for (uint32_t i = 0; i < model->lines.spot_count; i++)
        logged_s += model->lines.spots[i].evidence_s[BP_CAUSE_LOGGED];
    for (uint32_t i = 0; i < analysis->advice_count; i++)
        advised |= analysis->advice[i].cause &&
                   strcmp(analysis->advice[i].cause, bp_causes[BP_CAUSE_MESSAGE].word) == 0;
    return advised && logged_s < WANTED * group->wall_s;
}

void bp_advise_logging(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_group *group = bp_advise_group(model, "logging");
    if (!group || is_level_off(analysis, group))
        return;
    const char *caller = caller_of(model, group);
    bp_advise_by_group(
        analysis, group, group->wall_s,
        group->calls == 1 ? bp_make_text("logging: 1 call, from %s", caller)
        : group->calls    ? bp_make_text("logging: %s calls, most of them from %s",
                                         BP_COUNT(group->calls), caller)
                          : bp_make_text("logging: most of it called from %s", caller),
        bp_make_text("raise the level, or build the message only if the level is enabled%s",
                     model->split.leads ? "" : "; inside a DSL function every call pays for it"));
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

/* That Python calls them is news of native functions only. */
static char *name_tiny(const struct bp_function *worst, uint32_t count, bool native) {
    const char *one = native ? "is called from Python" : "does less than its call costs";
    const char *more = native ? "are called from Python" : "do less than their calls cost";
    return count == 1 ? bp_make_text("%s, a tiny function, %s", worst->name, one)
                      : bp_make_text("%s and %u more tiny function%s %s", worst->name, count - 1,
                                     count == 2 ? "" : "s", more);
}

void bp_advise_tiny_functions(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_function *worst = NULL;
    uint32_t count = 0;
    bool native = false;
    bool python = has_python(model);
    for (uint32_t i = 0; python && i < model->function_count; i++) {
        double cost_s = overhead_of(&model->functions[i]);
        count += cost_s > 0;
        native |= cost_s > 0 && !model->functions[i].module[0];
        if (cost_s > 0 && (!worst || cost_s > overhead_of(worst)))
            worst = &model->functions[i];
    }
    if (!worst)
        return;
    char calls[32];
    bp_advise(analysis, (uint32_t)(worst - model->functions), bounded_overhead(model), 0,
              name_tiny(worst, count, native),
              bp_make_text("%s calls of %.0f ns each: the call costs more than the work; do "
                           "several in one call%s",
                           bp_page_count(worst->calls, calls),
                           1e9 * worst->self_s / (double)worst->calls,
                           native ? "" : ", or write it out where it is called"));
}
