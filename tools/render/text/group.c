/* SPDX-License-Identifier: MIT
 *
 * --by group: totals of each group, who called into it, and its five largest functions. Columns of
 * time are thread-seconds; the last one is the part of the wall split.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/render/text/internal.h"

#define FUNCTION_ROWS 5
#define CALLER_NAMES 3
#define LONGEST_NAME 60
/* Share of the time: less would be shown as 0 %. */
#define LEAST_CALLER 0.005

/* Long C++ names without what their templates are made of: a new text. */
static char *short_name(const char *name) {
    struct bp_text text = {0};
    bool whole = bp_page_columns(name) <= LONGEST_NAME || !strstr(name, "::") ||
                 strstr(name, "operator"); /* <, >> */
    unsigned depth = 0;
    for (; *name; name++) {
        depth -= !whole && *name == '>' && depth > 0;
        if (depth == 0)
            bp_text_add(&text, "%c", *name);
        depth += !whole && *name == '<';
    }
    return bp_text_take(&text);
}

void bp_report_callers(const struct bp_model *model, const struct bp_caller *callers,
                       uint32_t count, double whole, struct bp_text *text) {
    for (uint32_t i = 0; i < count && i < CALLER_NAMES && callers[i].s > LEAST_CALLER * whole;
         i++) {
        char *name = short_name(model->functions[callers[i].function].label);
        bp_text_add(text, "%s%s %.0f %%", i == 0 ? "called from " : ", ", name,
                    100 * callers[i].s / whole);
        free(name);
    }
    if (count > CALLER_NAMES && callers[CALLER_NAMES].s > LEAST_CALLER * whole)
        bp_text_add(text, ", and %u more", count - CALLER_NAMES);
}

static const char *cell_per_call(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_part *part = value;
    return part->calls ? bp_page_time(page, part->calls_s / (double)part->calls, text) : "";
}

static const char *cell_wall(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_part *part = value;
    return bp_page_share(part->wall_s + part->idle_s, page->whole, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(37),
    BP_COLUMN("calls", 13, bp_cell_some, struct bp_part, calls),
    BP_COLUMN("self", 11, bp_cell_time, struct bp_part, self_s),
    {"per call", 10, cell_per_call, 0},
    {"of wall", 9, cell_wall, 0},
    BP_LAST_COLUMN,
};

/* Samples divide a function's time; a call takes all of it. */
static void print_part(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_part *part) {
    struct bp_part uncounted = *part;
    uncounted.calls = 0; /* they have a column */
    char *label = bp_report_part(model, &uncounted);
    bp_columns_row(page, columns, "    ", label, part);
    free(label);
}

/* Calls from outside; its functions call each other, too. */
static void print_entries(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_group *group) {
    struct bp_text text = {0};
    if (group->calls)
        bp_text_add(&text, "entered %s time%s%s", BP_COUNT(group->calls),
                    group->calls == 1 ? "" : "s", group->caller_count ? ", " : "");
    bp_report_callers(model, group->callers, group->caller_count, group->self_s, &text);
    if (text.length)
        bp_page_say(page, 6, "    %s", bp_text_get(&text));
    bp_text_fini(&text);
}

static void print_group(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_group *group) {
    const struct bp_part sum = {
        .self_s = group->self_s, .wall_s = group->wall_s, .idle_s = group->idle_s};
    bp_columns_row(page, columns, "  ", group->name, &sum);
    print_entries(page, model, group);
    for (uint32_t i = 0; i < group->part_count && i < FUNCTION_ROWS; i++)
        print_part(page, model, &group->parts[i]);
    bp_columns_more_by(page, "    ", group->part_count, FUNCTION_ROWS, "", "");
}

void bp_report_groups(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    bp_columns_title(page, "Groups", columns);
    double hidden_s = 0;
    for (uint32_t i = 0; i < model->group_count; i++) {
        if (i < settings->top)
            print_group(page, model, &model->groups[i]);
        else
            hidden_s += model->groups[i].wall_s + model->groups[i].idle_s;
    }
    bp_report_hidden_row(page, model->group_count, settings->top, hidden_s);
    bp_report_rest_rows(page, model, settings);
}
