/* SPDX-License-Identifier: MIT
 *
 * The table of rules and what they share. Advice is sorted by what it saves; warnings about the
 * measurement come first, since they decide whether the rest can be believed; what saves nothing by
 * itself comes last.
 */
#include "tools/analyze/advise/advise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/page.h"

/* Below this part of the wall a finding is not worth a line. */
#define LEAST_PART 0.001
#define MEDIUM_PART 0.01
#define HIGH_PART 0.05

/* The last one looks at what the others have found. */
static const struct {
    void (*look)(struct bp_analysis *analysis);
    bool of_devices; /* what it finds belongs on the page of transfers, too */
} rules[] = {
    {bp_advise_measurement, true}, {bp_advise_lines, false},
    {bp_advise_logging, false},    {bp_advise_transfers, true},
    {bp_advise_allocations, true}, {bp_advise_outliers, false},
    {bp_advise_generation, false}, {bp_advise_process_start, false},
    {bp_advise_collection, false}, {bp_advise_gil, false},
    {bp_advise_locks, false},      {bp_advise_tiny_functions, false},
    {bp_advise_idle_device, true}, {bp_advise_largest, false},
};

const char *bp_advise_name(const struct bp_model *model, uint32_t number) {
    return number == BP_NO_FUNCTION ? "(unknown caller)" : model->functions[number].full_name;
}

static struct bp_advice *append(struct bp_analysis *analysis) {
    return BP_APPEND(analysis->advice, analysis->advice_count);
}

struct bp_advice *bp_advise(struct bp_analysis *analysis, uint32_t function, double saves_s,
                            uint64_t bytes, char *what, char *why) {
    const struct bp_model *model = analysis->model;
    bool known = function != BP_NO_FUNCTION;
    saves_s = fmin(saves_s, model->wall.total_s);
    double part = model->wall.total_s > 0 ? saves_s / model->wall.total_s : 0;
    if (!(part >= LEAST_PART)) {
        free(what);
        free(why);
        return NULL;
    }
    struct bp_advice *advice = append(analysis);
    *advice = (struct bp_advice){
        .level = part >= HIGH_PART     ? "high"
                 : part >= MEDIUM_PART ? "medium"
                                       : "low",
        .what = what,
        .why = why,
        .saves_s = saves_s,
        .in_tasks = known ? bp_function_in_tasks(&model->functions[function]) : 0,
        .bytes = bytes,
        .function = function,
    };
    return advice;
}

void bp_advise_warning(struct bp_analysis *analysis, char *what, char *why) {
    *append(analysis) = (struct bp_advice){
        .level = "warning", .what = what, .why = why, .function = BP_NO_FUNCTION};
}

void bp_advise_remark(struct bp_analysis *analysis, char *what, char *why) {
    *append(analysis) =
        (struct bp_advice){.level = "remark", .what = what, .why = why, .function = BP_NO_FUNCTION};
}

static int rank(const struct bp_advice *advice) {
    if (advice->first)
        return -1;
    return strcmp(advice->level, "warning") == 0 ? 0 : strcmp(advice->level, "remark") == 0 ? 2 : 1;
}

static int compare_advice(const void *a, const void *b) {
    const struct bp_advice *x = a;
    const struct bp_advice *y = b;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (x->saves_s != y->saves_s)
        return x->saves_s > y->saves_s ? -1 : 1;
    return strcmp(x->what, y->what);
}

void bp_advise_all(struct bp_analysis *analysis) {
    if (bp_model_lost(analysis->model))
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        uint32_t before = analysis->advice_count;
        rules[i].look(analysis);
        for (uint32_t k = before; k < analysis->advice_count; k++)
            analysis->advice[k].of_devices = rules[i].of_devices;
    }
    if (analysis->advice_count)
        qsort(analysis->advice, analysis->advice_count, sizeof(*analysis->advice), compare_advice);
}
