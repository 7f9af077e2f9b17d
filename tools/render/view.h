/* SPDX-License-Identifier: MIT
 *
 * The tables of a report, one for each word of --by, and the overview that is shown without it. A
 * new one is a row of views.def, a function that prints it and a list in the JSON report.
 */
#ifndef BP_TOOLS_RENDER_VIEW_H
#define BP_TOOLS_RENDER_VIEW_H

#include <stdbool.h>

struct bp_model;
struct bp_page;
struct bp_report_settings;
struct bp_rest;

enum bp_by {
    BP_BY_OVERVIEW,
#define VIEW(id, word, ...) BP_BY_##id,
#include "tools/render/views.def"
#undef VIEW
    BP_VIEWS
};

/* Options that change some tables; others change all of them or none. */
enum bp_view_option {
    BP_VIEW_SEARCH = 1 << 0,
    BP_VIEW_SORT = 1 << 1,
    BP_VIEW_LEVELS = 1 << 2,
    BP_VIEW_OUTLIERS = 1 << 3,
};

typedef void bp_view_print(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings);

struct bp_view {
    const char *word;
    const char *list; /* its rows: a path in the JSON report; what CSV has */
    const char *name; /* the key of a row's name */
    /* What is of the wall and of none of its rows; NULL: the rows are not parts of the wall. */
    struct bp_rest (*rest)(const struct bp_model *model);
    bool (*exists)(const struct bp_model *model); /* NULL: always */
    bp_view_print *print;
    bp_view_print *search; /* instead of `print`, where there are words of --search */
    bool advises;          /* what to change first follows, where it exists */
    const char *(*next)(const struct bp_model *model); /* options of the report that says more */
    unsigned options; /* enum bp_view_option: they change its text */
};

extern const struct bp_view bp_views[BP_VIEWS];

bool bp_view_exists(enum bp_by by, const struct bp_model *model);
/* The word must be one of --by. */
enum bp_by bp_view_find(const char *word);
/* The table that is asked for: CSV has functions where the text has an overview. */
enum bp_by bp_view_table(const struct bp_report_settings *settings);

#endif
