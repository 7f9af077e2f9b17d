/* SPDX-License-Identifier: MIT
 *
 * Native code of other libraries that DSL functions call is not intercepted, so the ledger has its
 * time as theirs. Samples tell it: a logger that a DSL function calls must not pass for DSL.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/render/text/internal.h"

#define ROWS 4
/* Share of the wall below which there is no section. */
#define SMALLEST_PART 0.01

/* What a program or thread begins with calls the DSL, and is not called by it: a sample between two
 * DSL calls. */
static bool is_outermost(const struct bp_model *model, const struct bp_part *part) {
    static const char *const starts[] = {"_start", "__libc_start_main", "__libc_start_call_main",
                                         "start_thread", "clone3"};
    const char *caller = part->caller_count ? model->functions[part->callers[0].function].name : "";
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strcmp(caller, starts[i]) == 0)
            return true;
    return false;
}

static bool is_of_others(const struct bp_model *model, const struct bp_part *part) {
    return part->category == BP_DSL && part->kind == BP_PART_SAMPLED &&
           model->functions[part->function].category != BP_DSL &&
           part->wall_s >= SMALLEST_PART * model->wall.total_s && !is_outermost(model, part);
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_part *part) {
    char *label = bp_report_part(model, part);
    struct bp_text callers = {0};
    struct bp_report_time time = {part->self_s, part->error_s, part->wall_s};
    bp_columns_row(page, bp_report_time_columns, "  ", label, &time);
    free(label);
    bp_report_callers(model, part->callers, part->caller_count, part->self_s, &callers);
    if (callers.length)
        bp_page_say(page, 6, "    %s", bp_text_get(&callers));
    bp_text_fini(&callers);
}

void bp_report_below_dsl(const struct bp_page *page, const struct bp_model *model) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < model->part_count && shown < ROWS; i++) {
        if (!is_of_others(model, &model->parts[i]))
            continue;
        if (shown++ == 0)
            bp_report_time_title(page, "Counted as DSL above, but code of others");
        print_row(page, model, &model->parts[i]);
    }
}
