/* SPDX-License-Identifier: MIT
 *
 * The last line of a report: the one command that is worth more than another look at this one.
 */
#include <stdlib.h>

#include "tools/analyze/again.h"
#include "tools/base/invoked.h"
#include "tools/base/terminal/hint.h"
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

void bp_report_next_command(const struct bp_page *page, char *command) {
    fputs("\nnext: ", page->out);
    bp_page_command(page, command, 6, 6);
    free(command);
}

/* A new text. */
static char *make_next(const struct bp_model *model, const struct bp_report_settings *settings) {
    const char *option = choose(model, settings);
    char *contents =
        asks_contents(model, settings) ? bp_again_run(model, "--check-transfers") : NULL;
    if (contents)
        return contents;
    return option ? bp_hint_report(model->run.path, option)
                  : bp_make_text("%s doctor", bp_invoked());
}

void bp_report_next(const struct bp_page *page, const struct bp_model *model,
                    const struct bp_report_settings *settings) {
    bp_report_next_command(page, make_next(model, settings));
    if (asks_contents(model, settings))
        fputs("      finds what is copied twice\n", page->out);
}
