/* SPDX-License-Identifier: MIT
 *
 * The last line of a report: the one command that is worth more than another look at this one.
 */
#include "tools/render/text/internal.h"

static const char *choose(const struct bp_model *model, const struct bp_report_settings *settings) {
    if (model->process_count == 0)
        return NULL;
    if (settings->budget_s > 0)
        return bp_model_used_cuda(model) ? "--by candidate" : "--by function";
    if (settings->scale)
        return "--budget 8h";
    if (settings->search.count || settings->lines)
        return "--tree";
    return bp_views[settings->by].next(model);
}

/* Only contents tell whether a copy can be spared. */
static bool asks_contents(const struct bp_model *model, const struct bp_report_settings *settings) {
    uint64_t uploads = 0;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++)
        uploads +=
            model->cuda.transfers[i].direction == BP_H2D ? model->cuda.transfers[i].count : 0;
    return settings->by == BP_BY_TRANSFER && uploads > 1 && !model->run.imported &&
           !bp_model_is_hashed(model);
}

void bp_report_next(const struct bp_page *page, const struct bp_model *model,
                    const struct bp_report_settings *settings) {
    const char *option = choose(model, settings);
    if (asks_contents(model, settings))
        fputs("\nnext: battprof run --check-transfers -- COMMAND, to find what is copied twice\n",
              page->out);
    else if (option)
        fprintf(page->out, "\nnext: battprof report %s %s\n", option, model->run.path);
    else
        fprintf(page->out, "\nnext: battprof doctor\n");
}
