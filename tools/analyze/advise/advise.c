/* SPDX-License-Identifier: MIT
 *
 * The table of rules and what they share. Advice is sorted by what it saves; warnings about the
 * measurement come first, since they decide whether the rest can be believed; what saves nothing by
 * itself comes last.
 */
#include "tools/advise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/page.h"

/* Below this part of the wall a finding is not worth a line. */
#define LEAST_PART 0.001
#define MEDIUM_PART 0.01
#define HIGH_PART 0.05

/* The last one looks at what the others have found. */
static const struct {
    void (*look)(struct bp_model *model);
    bool of_devices; /* what it finds belongs on the page of transfers, too */
} rules[] = {
    {bp_advise_measurement, true},
    {bp_advise_logging, false},
    {bp_advise_transfers, true},
    {bp_advise_allocations, true},
    {bp_advise_outliers, false},
    {bp_advise_generation, false},
    {bp_advise_process_start, false},
    {bp_advise_collection, false},
    {bp_advise_gil, false},
    {bp_advise_locks, false},
    {bp_advise_tiny_functions, false},
    {bp_advise_idle_device, true},
    {bp_advise_largest, false},
};

const char *bp_advise_name(const struct bp_model *model, uint32_t number,
                           char text[BP_ADVISE_NAME]) {
    if (number == BP_NO_FUNCTION)
        return "(unknown caller)";
    return bp_function_name(&model->functions[number], text, BP_ADVISE_NAME);
}

const char *bp_advise_time(double s, char text[32]) {
    const struct bp_page page = {.utf8 = true}; /* wrapped later, for the terminal there is */
    return bp_page_time(&page, s, text);
}

static struct bp_advice *append(struct bp_model *model) {
    struct bp_advice *advice = BP_APPEND(model->advice, model->advice_count);
    return advice;
}

struct bp_advice *bp_advise(struct bp_model *model, uint32_t function, double saves_s,
                            uint64_t bytes, char *what, char *why) {
    bool known = function != BP_NO_FUNCTION;
    saves_s = fmin(saves_s, model->wall_s);
    double part = model->wall_s > 0 ? saves_s / model->wall_s : 0;
    if (!(part >= LEAST_PART)) {
        free(what);
        free(why);
        return NULL;
    }
    struct bp_advice *advice = append(model);
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

void bp_advise_warning(struct bp_model *model, char *what, char *why) {
    *append(model) = (struct bp_advice){
        .level = "warning", .what = what, .why = why, .function = BP_NO_FUNCTION};
}

void bp_advise_remark(struct bp_model *model, char *what, char *why) {
    *append(model) =
        (struct bp_advice){.level = "remark", .what = what, .why = why, .function = BP_NO_FUNCTION};
}

static int rank(const struct bp_advice *advice) {
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

void bp_model_advise(struct bp_model *model) {
    if (bp_model_is_lost(model))
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        uint32_t before = model->advice_count;
        rules[i].look(model);
        for (uint32_t k = before; k < model->advice_count; k++)
            model->advice[k].of_devices = rules[i].of_devices;
    }
    if (model->advice_count)
        qsort(model->advice, model->advice_count, sizeof(*model->advice), compare_advice);
}
