/* SPDX-License-Identifier: MIT
 *
 * Who is meant by advice on copies. Of a program's own code the ledger knows no function; the call
 * paths of its copies do.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Columns of a function's name: C++ has some of many lines. */
#define LONGEST 60

static bool is_of(const struct bp_copy_site *site, const struct bp_model_transfer *transfer) {
    return site->caller == transfer->caller && site->call == transfer->call &&
           bp_site_fits(site, transfer->direction) && site->step_count > 0;
}

/* A path does not say from what memory its call copies, nor always which way; equal sums do. */
static const struct bp_copy_site *exact_site(const struct bp_model *model,
                                             const struct bp_model_transfer *transfer) {
    const struct bp_copy_site *found = NULL;
    for (uint32_t i = 0; i < model->cuda.site_count; i++) {
        const struct bp_copy_site *site = &model->cuda.sites[i];
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
    for (uint32_t i = 0; i < model->cuda.site_count; i++) {
        const struct bp_copy_site *site = &model->cuda.sites[i];
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
    for (uint32_t i = 0; i < model->cuda.site_count; i++) {
        const struct bp_copy_site *site = &model->cuda.sites[i];
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
static char *describe(const struct bp_site_step *step, bool all) {
    bool placed = step->file[0] && step->line;
    struct bp_text text = {0};
    bp_text_add(&text, "%s%s%s%.*s%s", all ? "" : "mostly ", step->module,
                step->module[0] ? "." : "", LONGEST, step->function,
                strlen(step->function) > LONGEST ? "…" : "");
    if (placed)
        bp_text_add(&text, " (%s:%u)", bp_base_name(step->file), step->line);
    return bp_text_take(&text);
}

/* The innermost function around a context that is no CUDA call. */
static uint32_t caller_of(const struct bp_model *model, uint32_t context) {
    do
        context = model->contexts[context].parent;
    while (context && model->functions[model->contexts[context].function].cuda);
    return context ? model->contexts[context].function : BP_NO_FUNCTION;
}

char *bp_advise_callers(const struct bp_model *model, uint32_t function) {
    uint64_t *calls = bp_alloc(model->function_count, sizeof(*calls));
    uint32_t most = BP_NO_FUNCTION;
    for (uint32_t i = 1; i < model->context_count; i++) {
        uint32_t caller =
            model->contexts[i].function == function ? caller_of(model, i) : BP_NO_FUNCTION;
        if (caller == BP_NO_FUNCTION)
            continue;
        calls[caller] += model->contexts[i].calls;
        if (most == BP_NO_FUNCTION || calls[caller] > calls[most])
            most = caller;
    }
    bool all = most == BP_NO_FUNCTION || calls[most] >= model->functions[function].calls;
    free(calls);
    return bp_make_text("%s%s", all ? "" : "mostly ",
                        most == BP_NO_FUNCTION ? "(unknown caller)"
                                               : bp_function_label(&model->functions[most]));
}

char *bp_advise_caller(const struct bp_model *model, const struct bp_model_transfer *transfer) {
    struct bp_site_step step;
    if (transfer->caller == BP_NO_FUNCTION)
        return bp_copy_text("(unknown caller)");
    const struct bp_function *function = &model->functions[transfer->caller];
    const struct bp_copy_site *site =
        function->kind == BP_FUNC_ROOT ? exact_site(model, transfer) : NULL;
    if (site)
        return describe(&site->steps[0], true);
    if (function->kind == BP_FUNC_ROOT && main_step(model, transfer, &step))
        return describe(&step, count_others(model, transfer, &step, step.line > 0) == 0);
    return bp_copy_text(bp_function_label(function));
}
