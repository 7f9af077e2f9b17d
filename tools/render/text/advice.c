/* SPDX-License-Identifier: MIT
 *
 * What could be saved, in the text report: the largest of all, or on the page of transfers what is
 * about them, with the warnings that say whether it can be believed.
 */
#include <string.h>

#include "tools/render/text/internal.h"

/* Rows of advice in an overview: more are not read. */
#define ADVICE_ROWS 6

static void print_advice(const struct bp_page *page, const struct bp_advice *advice) {
    bool saves = strcmp(advice->level, "warning") != 0 && strcmp(advice->level, "remark") != 0;
    bp_page_say(page, 6, "  %s%s: %s: %s", saves ? "up to " : "",
                saves ? BP_TIME(page, advice->saves_s) : advice->level, advice->what, advice->why);
}

void bp_report_advice(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings) {
    bool overview = settings->by == BP_BY_OVERVIEW;
    uint32_t most = overview ? ADVICE_ROWS : settings->top;
    uint32_t count = 0;
    for (uint32_t i = 0; i < analysis->advice_count; i++) {
        if (!overview && !analysis->advice[i].of_devices)
            continue;
        if (count == 0) {
            fputc('\n', page->out);
            bp_page_heading(page, "What to change first\n");
        }
        if (count++ < most)
            print_advice(page, &analysis->advice[i]);
    }
    if (overview)
        bp_columns_more_by(page, "  ", count, most, "", "--json");
    else
        bp_columns_more(page, "  ", count, most);
}
