/* SPDX-License-Identifier: MIT
 *
 * --by function: the functions that samples found. Their calls are not counted, and their time is a
 * part of the self time of a row above, the program's own code mostly.
 */
#include <stdlib.h>

#include "tools/render/text/internal.h"

static bool is_wanted(const struct bp_model *model, const struct bp_part *part,
                      const struct bp_report_settings *settings) {
    const struct bp_function *function = &model->functions[part->function];
    return part->kind == BP_PART_SAMPLED && !bp_function_used(function) &&
           bp_report_wanted(settings, function);
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_part *part) {
    struct bp_report_time time = {part->self_s, part->error_s, part->wall_s};
    struct bp_text callers = {0};
    char *label = bp_report_part(model, part);
    bp_columns_whole_row(page, bp_report_time_columns, "  ", label, &time);
    free(label);
    bp_report_callers(model, part->callers, part->caller_count, part->self_s, &callers);
    if (callers.length)
        bp_page_say(page, 6, "    %s", bp_text_get(&callers));
    bp_text_fini(&callers);
}

void bp_report_sampled_functions(const struct bp_page *page, const struct bp_model *model,
                                 const struct bp_report_settings *settings) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        if (!is_wanted(model, &model->parts[i], settings))
            continue;
        if (count == 0)
            bp_report_time_title(page, "Found by samples, in rows above");
        if (count++ < settings->top)
            print_row(page, model, &model->parts[i]);
    }
    bp_columns_more(page, "  ", count, settings->top);
}
