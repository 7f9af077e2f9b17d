/* SPDX-License-Identifier: MIT
 *
 * Who is meant by advice on copies. Of a program's own code the ledger knows no function; the call
 * paths of its copies do.
 */
#include <stdio.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/text.h"

/* Of a function's name: C++ has some of many lines. */
#define LONGEST 60

static bool is_of(const struct bp_copy_site *site, const struct bp_model_transfer *transfer) {
    return site->caller == transfer->caller && site->call == transfer->call &&
           bp_site_fits(site, transfer->direction) && site->step_count > 0;
}

/* A path does not say from what memory its call copies, nor always which way; equal sums do. */
static const struct bp_copy_site *exact_site(const struct bp_model *model,
                                             const struct bp_model_transfer *transfer) {
    const struct bp_copy_site *found = NULL;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct bp_copy_site *site = &model->sites[i];
        if (!is_of(site, transfer) || site->count != transfer->count ||
            site->bytes != transfer->bytes)
            continue;
        if (found) /* a loop that copies to and fro */
            return NULL;
        found = site;
    }
    return found;
}

static bool same_function(const struct bp_site_step *a, const struct bp_site_step *b) {
    return strcmp(a->function, b->function) == 0 && strcmp(a->module, b->module) == 0 &&
           strcmp(a->file, b->file) == 0;
}

/* Copies by this call in this direction that are not from the step's function, or not from its
 * line. */
static uint64_t count_others(const struct bp_model *model, const struct bp_model_transfer *transfer,
                             const struct bp_site_step *step, bool by_line) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct bp_copy_site *site = &model->sites[i];
        if (is_of(site, transfer) && (!same_function(&site->steps[0], step) ||
                                      (by_line && site->steps[0].line != step->line)))
            count += site->count;
    }
    return count;
}

/* The innermost function that most of the copies are from, whatever the others are; and its line,
 * if the same can be said of that. */
static bool main_step(const struct bp_model *model, const struct bp_model_transfer *transfer,
                      struct bp_site_step *step) {
    const struct bp_copy_site *largest = NULL;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct bp_copy_site *site = &model->sites[i];
        if (is_of(site, transfer) && (!largest || site->count > largest->count))
            largest = site;
    }
    if (!largest || 2 * count_others(model, transfer, &largest->steps[0], false) >= transfer->count)
        return false;
    *step = largest->steps[0];
    if (2 * count_others(model, transfer, step, true) >= transfer->count)
        step->line = 0;
    return true;
}

/* `all`: none of the copies is from elsewhere. */
static const char *describe(const struct bp_site_step *step, bool all, char text[BP_ADVISE_NAME]) {
    char place[80] = "";
    if (step->file[0] && step->line)
        snprintf(place, sizeof(place), " (%.60s:%u)", bp_base_name(step->file), step->line);
    snprintf(text, BP_ADVISE_NAME, "%s%.40s%s%.*s%s%s", all ? "" : "mostly ", step->module,
             step->module[0] ? "." : "", LONGEST, step->function,
             strlen(step->function) > LONGEST ? "…" : "", place);
    return text;
}

const char *bp_advise_caller(const struct bp_model *model, const struct bp_model_transfer *transfer,
                             char text[BP_ADVISE_NAME]) {
    struct bp_site_step step;
    if (transfer->caller == BP_NO_FUNCTION)
        return "(unknown caller)";
    const struct bp_function *function = &model->functions[transfer->caller];
    if (function->kind != BP_FUNC_ROOT)
        return bp_function_name(function, text, BP_ADVISE_NAME);
    const struct bp_copy_site *site = exact_site(model, transfer);
    if (site)
        return describe(&site->steps[0], true, text);
    if (main_step(model, transfer, &step))
        return describe(&step, count_others(model, transfer, &step, step.line > 0) == 0, text);
    snprintf(text, BP_ADVISE_NAME, "own code of %.150s", function->library);
    return text;
}
