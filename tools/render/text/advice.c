/* SPDX-License-Identifier: MIT
 *
 * What could be saved, in the text report: the largest of all, or on the page of transfers what is
 * about them, with the warnings that say whether it can be believed.
 */
#include <string.h>

#include "tools/render/text/internal.h"

/* Of an overview: more is not read. */
#define ADVICE_ROWS 6

static bool is_warning(const struct bp_advice *advice) {
    return strcmp(advice->level, "warning") == 0;
}

static void print_advice(const struct bp_page *page, const struct bp_advice *advice) {
    bool saves = !is_warning(advice) && strcmp(advice->level, "remark") != 0;
    bp_page_say(page, 6, "  %s%s: %s: %s", saves ? "up to " : "",
                saves ? BP_TIME(page, advice->saves_s) : advice->level, advice->what, advice->why);
}

static bool belongs(const struct bp_advice *advice, bool overview, bool warnings) {
    return is_warning(advice) == warnings && (overview || advice->of_devices);
}

static void print_section(const struct bp_page *page, const struct bp_analysis *analysis,
                          const struct bp_report_settings *settings, bool warnings) {
    bool overview = settings->by == BP_BY_OVERVIEW;
    uint32_t most = overview ? ADVICE_ROWS : settings->top;
    uint32_t count = 0;
    for (uint32_t i = 0; i < analysis->advice_count; i++) {
        if (!belongs(&analysis->advice[i], overview, warnings))
            continue;
        if (count == 0) {
            fputc('\n', page->out);
            bp_page_heading(page, warnings ? "About this measurement\n" : "What to change first\n");
        }
        if (count++ < most)
            print_advice(page, &analysis->advice[i]);
    }
    if (overview)
        bp_columns_more_by(page, "  ", count, most, "", "--json");
    else
        bp_columns_more(page, "  ", count, most);
}

void bp_report_advice(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings) {
    print_section(page, analysis, settings, true);
    print_section(page, analysis, settings, false);
}
