/* SPDX-License-Identifier: MIT
 *
 * Where a transfer comes from: file and line of each path of calls that leads to it.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/text.h"
#include "tools/render/text/internal.h"

#define SITES 3
#define STEPS 6
/* Columns of a function's name: C++ has some of many lines. */
#define LONGEST 60

/* "dsl.py:110 dsl.objects", "grid.c:31 upload (libgrid.so)": a new text. */
static char *describe(const struct bp_site_step *step) {
    bool named = step->library[0] && !strstr(step->function, "+0x");
    struct bp_text text = {0};
    if (step->file[0] && step->line)
        bp_text_add(&text, "%s:%u ", bp_base_name(step->file), step->line);
    bp_text_add(&text, "%s%s%.*s%s", step->module, step->module[0] ? "." : "", LONGEST,
                step->function, strlen(step->function) > LONGEST ? "…" : "");
    if (named)
        bp_text_add(&text, " (%s)", step->library);
    return bp_text_take(&text);
}

static void print_site(const struct bp_page *page, const struct bp_copy_site *site) {
    for (uint32_t i = 0; i < site->step_count && i < STEPS; i++) {
        char *step = describe(&site->steps[i]);
        if (i == 0)
            bp_page_say(page, 10, "      at %s: %s of %s", step, BP_COUNT(site->count),
                        BP_BYTES((double)site->bytes));
        else
            bp_page_say(page, 10, "        from %s", step);
        free(step);
    }
    bp_columns_more_by(page, "        ", site->step_count, STEPS, "", "--json");
}

static bool fits(const struct bp_copy_site *site, const struct bp_site_row *row) {
    return site->caller == row->caller && site->step_count > 0 &&
           (row->call == BP_NO_FUNCTION || site->call == row->call) &&
           bp_site_fits(site, row->direction);
}

/* The first of the rows that the site may be of, but for one of them; `count` if there is none. */
static uint32_t other_row(const struct bp_copy_site *site, const struct bp_site_row *rows,
                          uint32_t count, uint32_t except) {
    uint32_t i = 0;
    while (i < count && (i == except || !fits(site, &rows[i])))
        i++;
    return i;
}

/* Not every call says which way it copies: places that may be of several rows are told once. */
void bp_report_sites(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_site_row *rows, uint32_t count, uint32_t number) {
    uint32_t shown = 0, shared = 0, before = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < model->cuda.site_count; i++) {
            const struct bp_copy_site *site = &model->cuda.sites[i];
            uint32_t other = other_row(site, rows, count, number);
            if (!fits(site, &rows[number]) || (pass == 0) != (other == count))
                continue;
            if (other < number) {
                before++;
                continue;
            }
            if (pass == 1 && shared++ == 0 && shown < SITES)
                fputs("      places that may be of another direction:\n", page->out);
            if (shown++ < SITES)
                print_site(page, site);
        }
    if (shown > SITES)
        fprintf(page->out, "      and from %u more places: --json\n", shown - SITES);
    if (before)
        fprintf(page->out, "      its %splaces are among those above\n", shown ? "other " : "");
}
