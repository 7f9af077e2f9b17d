/* SPDX-License-Identifier: MIT
 *
 * What could be saved, in the text report: the largest of all, or on the page of transfers what is
 * about them; before it the warnings that say whether it can be believed.
 */
#include <string.h>

#include "tools/render/text/internal.h"

/* Rows of advice in an overview: more are not read. */
#define ADVICE_ROWS 6

bool bp_advice_is_warning(const struct bp_advice *advice) {
    return strcmp(advice->level, "warning") == 0;
}

/* A remark tells of nothing to be saved, and under its heading a warning needs no word for it. */
void bp_report_one_advice(const struct bp_page *page, const struct bp_advice *advice, bool why) {
    bool remark = strcmp(advice->level, "remark") == 0;
    struct bp_text text = {0};
    if (remark)
        bp_text_add(&text, "remark: ");
    else if (!bp_advice_is_warning(advice))
        bp_text_add(&text, "up to %s: ", BP_TIME(page, advice->saves_s));
    bp_text_add(&text, "%s%s%s", advice->what, why ? ": " : "", why ? advice->why : "");
    bp_page_say(page, 6, "  %s", bp_text_get(&text));
    bp_text_fini(&text);
}

/* How many there are, of which `most` are shown. */
static uint32_t print_some(const struct bp_page *page, const struct bp_analysis *analysis,
                           bool overview, bool warnings, uint32_t most) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < analysis->advice_count; i++) {
        const struct bp_advice *advice = &analysis->advice[i];
        if ((!overview && !advice->of_devices) || bp_advice_is_warning(advice) != warnings)
            continue;
        if (count == 0) {
            fputc('\n', page->out);
            bp_page_heading(page, warnings ? "About this measurement\n" : "What to change first\n");
        }
        if (count++ < most)
            bp_report_one_advice(page, advice, true);
    }
    return count;
}

void bp_report_advice(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings) {
    bool overview = settings->by == BP_BY_OVERVIEW;
    uint32_t most = overview ? ADVICE_ROWS : settings->top;
    print_some(page, analysis, overview, true, UINT32_MAX);
    uint32_t count = print_some(page, analysis, overview, false, most);
    if (overview)
        bp_columns_more_by(page, "  ", count, most, "", "--json");
    else
        bp_columns_more(page, "  ", count, most);
}
