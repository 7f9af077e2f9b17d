/* SPDX-License-Identifier: MIT
 *
 * What could be saved, in the text report: the largest of all, or on the page of transfers what is
 * about them, with the warnings that say whether it can be believed.
 */
#include <string.h>

#include "tools/report_internal.h"

/* Of an overview: more is not read. */
#define ADVICE_ROWS 6

static void print_advice(const struct bp_page *page, const struct bp_advice *advice) {
    char line[1200];
    char saves[32];
    if (strcmp(advice->level, "warning") == 0 || strcmp(advice->level, "remark") == 0)
        snprintf(line, sizeof(line), "  %s: %s: %s", advice->level, advice->what, advice->why);
    else
        snprintf(line, sizeof(line), "  up to %s: %s: %s",
                 bp_page_time(page, advice->saves_s, saves), advice->what, advice->why);
    bp_page_wrap(page, line, 6);
}

void bp_report_advice(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    bool overview = strcmp(settings->by, BP_OVERVIEW) == 0;
    uint32_t most = overview ? ADVICE_ROWS : settings->top;
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->advice_count; i++) {
        if (!overview && !model->advice[i].of_devices)
            continue;
        if (count == 0) {
            fputc('\n', page->out);
            bp_page_heading(page, "What to change first\n");
        }
        if (count++ < most)
            print_advice(page, &model->advice[i]);
    }
    if (count > most && overview)
        fprintf(page->out, "  and %u more: --json\n", count - most);
    else if (count > most)
        fprintf(page->out, "  and %u more: --top %u\n", count - most, count);
}
