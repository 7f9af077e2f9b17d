/* SPDX-License-Identifier: MIT
 *
 * Shared by the text reports: report_text.c, report_table.c, report_tree.c.
 */
#ifndef BP_TOOLS_REPORT_INTERNAL_H
#define BP_TOOLS_REPORT_INTERNAL_H

#include "tools/page.h"
#include "tools/report.h"

void bp_report_headline(const struct bp_page *page, const struct bp_model *model);
void bp_report_notes(const struct bp_page *page, const struct bp_model *model);

void bp_report_next(const struct bp_page *page, const struct bp_model *model,
                    const struct bp_report_settings *settings);

/* The table that --by asks for. */
void bp_report_table(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings);

/* report_search.c. A word without * ? [ is found anywhere in a name; case does not matter. Misses
 * are words that no function has, or only functions that were never called. */
bool bp_report_matches(const char *pattern, const char *name);
void bp_report_misses(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);
void bp_report_search(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* report_check.c: what was asked for and cannot be shown; 0 or -1 with the error set. */
/* Whether other levels than the usual ones were asked for. */
bool bp_report_judges(const struct bp_report_settings *settings);
int bp_report_check(const struct bp_report_settings *settings, int operands,
                    struct bp_error *error);
int bp_report_check_model(const struct bp_model *model, const struct bp_report_settings *settings,
                          struct bp_error *error);

/* report_rest.c: what is of the wall, but of no row of the table by this word. */
struct bp_rest {
    uint32_t count;
    struct bp_rest_row {
        const char *name;
        double wall_s;
    } rows[4];
};

struct bp_rest bp_report_rest(const struct bp_model *model, const char *by);
/* The profiler's own cost that is of no thread, of the wall. */
double bp_report_cost_before(const struct bp_model *model);
void bp_report_rest_rows(const struct bp_page *page, const struct bp_model *model, const char *by);
/* A row that has nothing but a share of the wall. */
void bp_report_share_row(const struct bp_page *page, const struct bp_model *model, const char *text,
                         double wall_s);

/* "python3", or "dash, before exec": new programs change the name of their thread. */
const char *bp_report_thread_name(const struct bp_model *model,
                                  const struct bp_model_thread *thread, char *text, size_t size);

/* report_open.c: tasks that did not end, and the calls that threads were in. */
void bp_report_unfinished(const struct bp_page *page, const struct bp_model *model);
void bp_report_in_flight(const struct bp_page *page, const struct bp_model *model);

/* report_task_one.c */
void bp_report_task_search(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings);

/* report_function.c: all that is known of each function. */
void bp_report_functions(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);

/* report_task.c, report_task_phase.c; the lines are for the overview. */
void bp_report_tasks(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings);
void bp_report_task_lines(const struct bp_page *page, const struct bp_model *model);
void bp_report_phases(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* report_projection.c; each prints nothing if it was not asked for. */
void bp_report_projection(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings);
void bp_report_budget(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* report_candidate.c; the line is for the overview. */
void bp_report_candidates(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings);
void bp_report_candidate_line(const struct bp_page *page, const struct bp_model *model,
                              const struct bp_report_settings *settings);

/* report_framework.c */
void bp_report_framework(const struct bp_page *page, const struct bp_model *model);
/* The head of a table of thread times and shares of the wall. */
void bp_report_time_title(const struct bp_page *page, const char *text);
/* "~ logging.Logger._log, 30 calls" */
void bp_report_part(const struct bp_model *model, const struct bp_part *part, char *text,
                    size_t size);

/* report_below.c: nothing where there is none. */
void bp_report_below_dsl(const struct bp_page *page, const struct bp_model *model);

/* report_suspect.c: the pattern for run --count that would confirm the largest sampled function;
 * false if there is none worth it. */
bool bp_report_suspect(const struct bp_model *model, char *text, size_t size);
void bp_report_suspect_line(const struct bp_page *page, const struct bp_model *model);

/* report_group.c */
void bp_report_groups(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);
/* "called from dsl.objects 82 %, dsl.fill 11 %, and 3 more", in parts of `whole`; "" if nobody. */
void bp_report_callers(const struct bp_model *model, const struct bp_caller *callers,
                       uint32_t count, double whole, char *text, size_t size);

/* report_site.c: where the copies of a row come from, which is one of several. `call` may be
 * BP_NO_FUNCTION: any. */
struct bp_site_row {
    uint32_t caller;
    uint32_t call;
    uint32_t direction;
};
void bp_report_sites(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_site_row *rows, uint32_t count, uint32_t number);
/* report_device.c; each prints nothing where there is nothing. */
void bp_report_device_line(const struct bp_page *page, const struct bp_model *model);
void bp_report_transfers(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);
/* report_kernel.c */
void bp_report_kernels(const struct bp_page *page, const struct bp_model *model);
void bp_report_by_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);
/* report_role.c: roles, ranks and machines, where there are several. */
void bp_report_roles(const struct bp_page *page, const struct bp_model *model);
/* report_advice.c */
void bp_report_advice(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* Of a function: "12.3 ms", or "< 4.56 ms" where the profiler's own cost hides it. */
const char *bp_report_self(const struct bp_page *page, const struct bp_function *function,
                           char text[32]);
const char *bp_report_total(const struct bp_page *page, const struct bp_function *function,
                            char text[32]);

/* "module.name" for Python, the name for others: borrowed, or in `text`. */
const char *bp_report_name(const struct bp_function *function, char *text, size_t size);

#endif
