/* SPDX-License-Identifier: MIT
 *
 * --by group: totals of each group, who called into it, and its five largest functions. Columns of
 * time are thread-seconds; the last one is the part of the wall split.
 */
#include <string.h>

#include "tools/report_internal.h"

#define FUNCTION_ROWS 5
#define CALLER_NAMES 3
/* Of the time: less would be shown as 0 %. */
#define LEAST_CALLER 0.005

void bp_report_callers(const struct bp_model *model, const struct bp_caller *callers,
                       uint32_t count, double whole, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < count && i < CALLER_NAMES && callers[i].s > LEAST_CALLER * whole;
         i++) {
        char name[200];
        const char *label =
            bp_report_name(&model->functions[callers[i].function], name, sizeof(name));
        int more = snprintf(text + length, size - length, "%s%s %.0f %%",
                            i == 0 ? "called from " : ", ", label, 100 * callers[i].s / whole);
        if (more < 0 || (size_t)more >= size - length)
            return;
        length += (size_t)more;
    }
    if (count > CALLER_NAMES && callers[CALLER_NAMES].s > LEAST_CALLER * whole)
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

static double per_call(const struct bp_part *part) {
    return part->calls ? part->calls_s / (double)part->calls : 0;
}

/* Samples divide a function's time; a call takes all of it. */
static void print_part(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_part *part) {
    struct bp_part uncounted = *part;
    char label[400];
    uncounted.calls = 0; /* they have a column */
    bp_report_part(model, &uncounted, label, sizeof(label));
    fputs("    ", page->out);
    bp_page_left(page, label, 33);
    print_row(page, model, part->calls, part->self_s, per_call(part), part->wall_s + part->idle_s);
}

/* Calls from outside; its functions call each other, too. Returns the length. */
static size_t print_entries(const struct bp_group *group, char *text, size_t size) {
    char count[32];
    int length = 0;
    text[0] = 0;
    if (group->calls)
        length = snprintf(text, size, "entered %s time%s%s", bp_page_count(group->calls, count),
                          group->calls == 1 ? "" : "s", group->caller_count ? ", " : "");
    return (size_t)length;
}

static void print_group(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_group *group) {
    char callers[700];
    fputs("  ", page->out);
    bp_page_left(page, group->name, 35);
    print_row(page, model, 0, group->self_s, 0, group->wall_s + group->idle_s);
    memset(callers, ' ', 4);
    size_t length = 4 + print_entries(group, callers + 4, sizeof(callers) - 4);
    bp_report_callers(model, group->callers, group->caller_count, group->self_s, callers + length,
                      sizeof(callers) - length);
    if (callers[4])
        bp_page_wrap(page, callers, 6);
    for (uint32_t i = 0; i < group->part_count && i < FUNCTION_ROWS; i++)
        print_part(page, model, &group->parts[i]);
    if (group->part_count > FUNCTION_ROWS)
        fprintf(page->out, "    and %u more\n", group->part_count - FUNCTION_ROWS);
}

void bp_report_groups(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    bp_page_title(page, "Groups", 36,
                  BP_COLUMNS({"calls", 14}, {"self", 11}, {"per call", 10}, {"of wall", 9}));
    double hidden_s = 0;
    char text[64];
    for (uint32_t i = 0; i < model->group_count; i++) {
        if (i < settings->top)
            print_group(page, model, &model->groups[i]);
        else
            hidden_s += model->groups[i].wall_s + model->groups[i].idle_s;
    }
    snprintf(text, sizeof(text), "and %u more groups: --top %u", model->group_count - settings->top,
             model->group_count);
    if (model->group_count > settings->top)
        bp_report_share_row(page, model, text, hidden_s);
    bp_report_rest_rows(page, model, "group");
}
