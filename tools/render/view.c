/* SPDX-License-Identifier: MIT
 *
 * What each table of a report is: whether it exists in a model, and which report says more.
 */
#include "tools/render/view.h"

#include <string.h>

#include "tools/render/text/internal.h"

static bool has_transfers(const struct bp_model *model) {
    return model->cuda.transfer_count > 0;
}

static bool has_kernels(const struct bp_model *model) {
    return model->cuda.kernel_count > 0;
}

static bool has_processes(const struct bp_model *model) {
    return model->process_count > 1;
}

static bool has_threads(const struct bp_model *model) {
    return model->thread_count > 1;
}

static const char *after_overview(const struct bp_model *model) {
    if (model->tasks.summary.count > 0)
        return "--by task";
    if (model->pid_count > 1)
        return "--by process";
    if (has_transfers(model))
        return "--by transfer";
    if (has_threads(model) && model->lived_count > 1)
        return "--by thread";
    return bp_report_has_lines(model) ? "--lines" : "--tree";
}

static const char *after_function(const struct bp_model *model) {
    bool candidates = model->wall.category_s[BP_DSL] > 0 && bp_model_used_cuda(model);
    return candidates ? "--by candidate" : "--tree";
}

static const char *after_phase(const struct bp_model *model) {
    return model->tasks.summary.count ? "--scale 400" : "--by function";
}

static const char *after_task(const struct bp_model *model) {
    return model->tasks.summary.outliers ? "--drop-outliers" : after_phase(model);
}

static const char *after_candidate(const struct bp_model *model) {
    (void)model;
    return "--by function";
}

static const char *after_kernel(const struct bp_model *model) {
    (void)model;
    return "--by transfer";
}

static const char *after_process(const struct bp_model *model) {
    return has_transfers(model) ? "--by transfer" : "--by thread";
}

static const char *after_thread(const struct bp_model *model) {
    (void)model;
    return "--tree";
}

const struct bp_view bp_views[BP_VIEWS] = {
    [BP_BY_OVERVIEW] = {.word = "overview",
                        .print = bp_report_overview,
                        .search = bp_report_search,
                        .advises = true,
                        .next = after_overview,
                        .options =
                            BP_VIEW_SEARCH | BP_VIEW_SORT | BP_VIEW_LEVELS | BP_VIEW_OUTLIERS},
#define VIEW(id, by, ...) [BP_BY_##id] = {.word = by, __VA_ARGS__},
#include "tools/render/views.def"
#undef VIEW
};

bool bp_view_exists(enum bp_by by, const struct bp_model *model) {
    return !bp_views[by].exists || bp_views[by].exists(model);
}

enum bp_by bp_view_find(const char *word) {
    enum bp_by by = BP_VIEWS - 1;
    while (by > BP_BY_OVERVIEW && strcmp(bp_views[by].word, word) != 0)
        by--;
    return by;
}

enum bp_by bp_view_table(const struct bp_report_settings *settings) {
    return settings->csv && settings->by == BP_BY_OVERVIEW ? BP_BY_FUNCTION : settings->by;
}
