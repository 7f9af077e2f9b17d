/* SPDX-License-Identifier: MIT
 *
 * The last line of a report: the one command that is worth more than another look at this one.
 */
#include <string.h>

#include "tools/report_internal.h"

static const char *after_overview(const struct bp_model *model) {
    if (model->task_summary.count > 0)
        return "--by task";
    if (model->pid_count > 1)
        return "--by process";
    if (model->transfer_count > 0)
        return "--by transfer";
    if (model->thread_count > 1 && model->threads > 1)
        return "--by thread";
    return "--tree";
}

static const char *choose(const struct bp_model *model, const struct bp_report_settings *settings) {
    static const char *const next[][2] = {
        {"function", "--by candidate"}, {"candidate", "--by function"}, {"thread", "--tree"},
        {"group", "--by candidate"},    {"transfer", "--by candidate"}, {"kernel", "--by transfer"},
    };
    if (model->process_count == 0)
        return NULL;
    if (settings->budget_s > 0)
        return "--by candidate";
    if (settings->scale)
        return "--budget 8h";
    if (settings->search.count)
        return "--tree";
    for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++)
        if (strcmp(next[i][0], settings->by) == 0)
            return model->category_s[BP_DSL] > 0 || strcmp(next[i][1], "--by candidate") != 0
                       ? next[i][1]
                       : "--tree";
    if (strcmp(settings->by, "task") == 0 && model->task_summary.outliers)
        return "--drop-outliers";
    if (strcmp(settings->by, "task") == 0 || strcmp(settings->by, "phase") == 0)
        return model->task_summary.count ? "--scale 400" : "--by function";
    if (strcmp(settings->by, "process") == 0)
        return model->transfer_count > 0 ? "--by transfer" : "--by thread";
    return after_overview(model);
}

/* Only contents tell whether a copy can be spared. */
static bool asks_contents(const struct bp_model *model, const struct bp_report_settings *settings) {
    uint64_t uploads = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++)
        uploads += model->transfers[i].direction == BP_H2D ? model->transfers[i].count : 0;
    return strcmp(settings->by, "transfer") == 0 && uploads > 1 && !model->imported &&
           !bp_model_is_hashed(model);
}

void bp_report_next(const struct bp_page *page, const struct bp_model *model,
                    const struct bp_report_settings *settings) {
    const char *option = choose(model, settings);
    if (asks_contents(model, settings))
        fputs("\nnext: battprof run --check-transfers -- COMMAND, to find what is copied twice\n",
              page->out);
    else if (option)
        fprintf(page->out, "\nnext: battprof report %s %s\n", option, model->path);
    else
        fprintf(page->out, "\nnext: battprof doctor\n");
}
