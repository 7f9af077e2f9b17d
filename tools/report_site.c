/* SPDX-License-Identifier: MIT
 *
 * Where a transfer comes from: file and line of each path of calls that leads to it.
 */
#include <string.h>

#include "tools/report_internal.h"
#include "tools/text.h"

#define SITES 3
#define STEPS 6
/* Of a function's name: C++ has some of many lines. */
#define LONGEST 60

/* "dsl.py:110 dsl.objects", "grid.c:31 upload (libgrid.so)" */
static void describe(const struct bp_site_step *step, char *text, size_t size) {
    char place[300] = "";
    if (step->file[0] && step->line)
        snprintf(place, sizeof(place), "%.200s:%u ", bp_base_name(step->file), step->line);
    bool named = step->library[0] && !strstr(step->function, "+0x");
    snprintf(text, size, "%s%.100s%s%.*s%s%s%.80s%s", place, step->module,
             step->module[0] ? "." : "", LONGEST, step->function,
             strlen(step->function) > LONGEST ? "…" : "", named ? " (" : "",
             named ? step->library : "", named ? ")" : "");
}

static void print_site(const struct bp_page *page, const struct bp_copy_site *site) {
    char step[900];
    char line[1000];
    char count[32];
    char bytes[32];
    for (uint32_t i = 0; i < site->step_count && i < STEPS; i++) {
        describe(&site->steps[i], step, sizeof(step));
        if (i == 0)
            snprintf(line, sizeof(line), "      at %s: %s of %s", step,
                     bp_page_count(site->count, count), bp_page_bytes((double)site->bytes, bytes));
        else
            snprintf(line, sizeof(line), "        from %s", step);
        bp_page_wrap(page, line, 10);
    }
    if (site->step_count > STEPS)
        fprintf(page->out, "        and %u more: --json\n", site->step_count - STEPS);
}

bool bp_report_has_sites(const struct bp_model *model, uint32_t caller) {
    for (uint32_t i = 0; i < model->site_count; i++)
        if (model->sites[i].caller == caller && model->sites[i].step_count > 0)
            return true;
    return false;
}

void bp_report_sites(const struct bp_page *page, const struct bp_model *model, uint32_t caller,
                     uint32_t call, bool shared) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct bp_copy_site *site = &model->sites[i];
        if (site->caller != caller || (call != BP_NO_FUNCTION && site->call != call) ||
            site->step_count == 0)
            continue;
        if (shown == 0 && shared)
            fputs("      places of all directions:\n", page->out);
        if (shown++ < SITES)
            print_site(page, site);
    }
    if (shown > SITES)
        fprintf(page->out, "      and from %u more places: --json\n", shown - SITES);
}
