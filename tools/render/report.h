/* SPDX-License-Identifier: MIT
 *
 * A run as text, one table or all of them, as a tree, as JSON or as CSV.
 */
#ifndef BP_TOOLS_RENDER_REPORT_H
#define BP_TOOLS_RENDER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/analyze/analysis.h"
#include "tools/analyze/priority.h"
#include "tools/base/options.h"
#include "tools/model/model.h"
#include "tools/render/view.h"

struct bp_report_settings {
    bool json;
    bool csv;
    bool folded; /* stacks for flame graphs */
    bool tree;
    unsigned depth;     /* levels of the tree; 0: all */
    double least;       /* of the wall, in per cent: rows of the tree; negative: not said */
    bool brief;         /* the split and the first advice */
    bool brief_if_long; /* the same on a terminal that the report does not fit */
    bool no_pager;
    bool save;          /* all tables as text, in a file with the time in its name */
    const char *output; /* file; NULL: stdout */
    const char *html;   /* the file of a page; NULL: none */
    bool small;         /* a page for a notebook */
    enum bp_by by;      /* what a row is */
    const char *sort;   /* self, total, calls, name; NULL: not said, self */
    const char *rules;
    unsigned top;           /* rows of a table; 0: not said */
    struct bp_words search; /* functions to show, whatever their rank */
    bool lines;             /* of functions; `search` has their names */
    struct bp_levels levels;
    struct bp_task_wishes tasks;
    struct bp_words grows; /* phases that grow with the number of tasks */
    unsigned scale;        /* tasks to project to; 0: none */
    double budget_s;       /* what fits into it; 0: none */
};

/* The text report of a file or directory, for `battprof run`. 0, or -1 with the error set. */
int bp_report_print(const char *path, const struct bp_report_settings *settings, FILE *out,
                    struct bp_error *error);

/* The overview, unlimited by anything that was asked for. */
void bp_report_defaults(struct bp_report_settings *settings);

/* What was asked for and cannot be shown, at all or of this model; 0, or -1 with the error set. */
int bp_report_check(const struct bp_report_settings *settings, int operands,
                    struct bp_error *error);
int bp_report_check_model(const struct bp_model *model, const struct bp_report_settings *settings,
                          struct bp_error *error);

int bp_report_text(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out);
int bp_report_brief(const struct bp_analysis *analysis, FILE *out);
int bp_report_tree(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out);
int bp_report_json(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out);
/* All tables, one after the other. */
int bp_report_all(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                  FILE *out);
/* The table that --by asks for; its columns are the keys of the JSON's objects. */
int bp_report_csv(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                  FILE *out);

/* Indices of the used functions in the asked order, by falling self time if `sort` is NULL: a new
 * array. */
uint32_t *bp_report_order(const struct bp_model *model, const char *sort, uint32_t *count);

/* text/order.c: the functions among those wanted that samples found lines of, by falling self
 * time: a new array. */
uint32_t *bp_report_line_order(const struct bp_model *model,
                               const struct bp_report_settings *settings, uint32_t *count);

/* text/search.c: all functions where none is searched for. */
bool bp_report_wanted(const struct bp_report_settings *settings,
                      const struct bp_function *function);

/* text/python.c: the DSL function below which a function of another Python module took most of
 * its time, NULL if there is none, and how many other contexts of that kind there are. */
const struct bp_function *bp_report_caller(const struct bp_model *model,
                                           const struct bp_function *function, uint32_t *others);

#endif
