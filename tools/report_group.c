/* SPDX-License-Identifier: MIT
 *
 * --by group: totals of each group, who called into it, and its five largest functions. Columns of
 * time are thread-seconds; the last one is the part of the wall split.
 */
#include <string.h>

#include "tools/report_internal.h"

#define FUNCTION_ROWS 5
#define CALLER_NAMES 3

void bp_report_callers(const struct bp_model *model, const struct bp_caller *callers,
                       uint32_t count, double whole, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < count && i < CALLER_NAMES && whole > 0; i++) {
        char name[200];
        const char *label =
            bp_report_name(&model->functions[callers[i].function], name, sizeof(name));
        int more = snprintf(text + length, size - length, "%s%s %.0f %%",
                            i == 0 ? "called from " : ", ", label, 100 * callers[i].s / whole);
        if (more < 0 || (size_t)more >= size - length)
            return;
        length += (size_t)more;
    }
    if (count > CALLER_NAMES)
        snprintf(text + length, size - length, ", and %u more", count - CALLER_NAMES);
}

static void print_row(const struct bp_page *page, const struct bp_model *model, uint64_t calls,
                      double self_s, double call_s, double wall_s) {
    char text[32];
    bp_page_right(page, calls ? bp_page_count(calls, text) : "", 13);
    bp_page_right(page, bp_page_time(page, self_s, text), 11);
    bp_page_right(page, calls ? bp_page_time(page, call_s, text) : "", 10);
    bp_page_right(page, bp_page_share(wall_s, model->wall_s, text), 9);
    fputc('\n', page->out);
}

/* Samples divide a function's time; a call takes all of it. */
static void print_part(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    struct bp_part uncounted = *part;
    char label[400];
    uncounted.calls = 0; /* they have a column */
    bp_report_part(model, &uncounted, label, sizeof(label));
    fputs("    ", page->out);
    bp_page_left(page, label, 33);
    print_row(page, model, part->calls, part->self_s,
              function->calls ? function->self_s / (double)function->calls : 0, part->wall_s);
}

static void print_group(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_group *group) {
    char callers[700];
    fputs("  ", page->out);
    bp_page_left(page, group->name, 35);
    double call_s = group->calls ? group->self_s / (double)group->calls : 0;
    print_row(page, model, group->calls, group->self_s, call_s, group->wall_s);
    bp_report_callers(model, group->callers, group->caller_count, group->self_s, callers + 4,
                      sizeof(callers) - 4);
    if (callers[4]) {
        memset(callers, ' ', 4);
        bp_page_wrap(page, callers, 6);
    }
    for (uint32_t i = 0; i < group->part_count && i < FUNCTION_ROWS; i++)
        print_part(page, model, &group->parts[i]);
    if (group->part_count > FUNCTION_ROWS)
        fprintf(page->out, "    and %u more\n", group->part_count - FUNCTION_ROWS);
}

void bp_report_groups(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    bp_page_title(page, "Groups", 36,
                  BP_COLUMNS({"calls", 14}, {"self", 11}, {"per call", 10}, {"of wall", 9}));
    for (uint32_t i = 0; i < model->group_count && i < settings->top; i++)
        print_group(page, model, &model->groups[i]);
    if (model->group_count > settings->top)
        fprintf(page->out, "  and %u more groups: --top %u\n", model->group_count - settings->top,
                model->group_count);
}
