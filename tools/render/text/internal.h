/* SPDX-License-Identifier: MIT
 *
 * What the files of the text report share: each prints a section or a table of it.
 */
#ifndef BP_TOOLS_RENDER_TEXT_INTERNAL_H
#define BP_TOOLS_RENDER_TEXT_INTERNAL_H

#include "tools/base/columns.h"
#include "tools/base/text.h"
#include "tools/render/report.h"

void bp_report_headline(const struct bp_page *page, const struct bp_model *model);
void bp_report_recording(const struct bp_page *page, const struct bp_model *model);
void bp_report_categories(const struct bp_page *page, const struct bp_model *model);
void bp_report_choice(const struct bp_page *page, const struct bp_model *model);
void bp_report_notes(const struct bp_page *page, const struct bp_analysis *analysis);

/* "next: " and the command, which it frees. */
void bp_report_next_command(const struct bp_page *page, char *command);
void bp_report_next(const struct bp_page *page, const struct bp_model *model,
                    const struct bp_report_settings *settings);

void bp_report_overview(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings);

/* table.c */
void bp_report_dsl_functions(const struct bp_page *page, const struct bp_model *model,
                             const struct bp_report_settings *settings);
void bp_report_threads(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings);
void bp_report_processes(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);

/* search.c. A word without * ? [ is found anywhere in a name; case does not matter. Misses
 * are words that no function has, or only functions that were never called. */
bool bp_report_matches(const char *pattern, const char *name);
void bp_report_misses(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);
void bp_report_search(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* Whether other levels than the usual ones were asked for. */
bool bp_report_judges(const struct bp_report_settings *settings);

/* rest.c: what is of the wall, but of no row of a table. */
struct bp_rest {
    uint32_t count;
    struct bp_rest_row {
        const char *name;
        double wall_s;
    } rows[4];
};

struct bp_rest bp_rest_of_functions(const struct bp_model *model);
struct bp_rest bp_rest_of_threads(const struct bp_model *model);
struct bp_rest bp_rest_of_phases(const struct bp_model *model);
/* The overhead that belongs to no thread, part of the wall. */
double bp_report_overhead_before(const struct bp_model *model);
void bp_report_rest_rows(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);
/* One row for those that are not shown. */
void bp_report_hidden_row(const struct bp_page *page, uint32_t count, uint32_t shown,
                          double wall_s);

/* "python3", or "dash, before exec": new programs change the name of their thread. A new text. */
char *bp_report_thread_name(const struct bp_model *model, const struct bp_model_thread *thread);

/* propose.c: what is missing, and the run that would have it: "--task" or "--phase". */
void bp_report_propose(const struct bp_page *page, const struct bp_model *model, const char *what,
                       const char *option);

/* open.c: tasks that did not end, and the calls that threads were in. */
void bp_report_unfinished(const struct bp_page *page, const struct bp_model *model);
void bp_report_in_flight(const struct bp_page *page, const struct bp_model *model);

/* task_one.c */
void bp_report_task_search(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings);

/* function.c: all that is known of each function. */
void bp_report_functions(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);

/* exact_line.c: of one function, and of those with most time. */
void bp_report_exact_function(const struct bp_page *page, const struct bp_model *model,
                              uint32_t number);
void bp_report_exact_lines(const struct bp_page *page, const struct bp_model *model);

/* task.c, task_phase.c; the lines are for the overview. */
void bp_report_tasks(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings);
void bp_report_task_lines(const struct bp_page *page, const struct bp_model *model);
void bp_report_phases(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);

/* projection.c; each prints nothing if it was not asked for. */
void bp_report_projection(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings);
void bp_report_budget(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings);

/* candidate.c; the line is for the overview. */
void bp_report_candidates(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings);
void bp_report_candidate_line(const struct bp_page *page, const struct bp_model *model,
                              const struct bp_report_settings *settings);

/* framework.c */
void bp_report_framework(const struct bp_page *page, const struct bp_model *model);
/* Its last rows: CUDA's calls, waiting, starting and ending. */
void bp_report_waits(const struct bp_page *page, const struct bp_model *model);
/* owned.c: in place of categories and framework where nothing was named as the DSL. */
void bp_report_split(const struct bp_page *page, const struct bp_model *model);
void bp_report_owned_functions(const struct bp_page *page, const struct bp_model *model,
                               const struct bp_report_settings *settings);
/* A table of thread times and shares of the wall: its head, its columns and what a row is. */
void bp_report_time_title(const struct bp_page *page, const char *text);
struct bp_report_time {
    double s; /* negative: it is none of threads */
    double error_s;
    double wall_s;
};
extern const struct bp_column bp_report_time_columns[];
/* "~ logging.Logger._log, 30 calls": a new text. */
char *bp_report_part(const struct bp_model *model, const struct bp_part *part);

/* line.c: the lines that dominate a function, below its row; times begin at `column`. */
void bp_report_overview_lines(const struct bp_page *page, const struct bp_model *model,
                              uint32_t function, int column);
void bp_report_lines(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings);
/* Some line dominates its function. */
bool bp_report_has_lines(const struct bp_model *model);

/* All lines of one function, exact or sampled; nothing where none is known. */
void bp_report_lines_of(const struct bp_page *page, const struct bp_model *model, uint32_t number);

/* stacks.c: nothing where the run was not sampled. */
void bp_report_stack_tree(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings);

/* opened.c: all that is known of one function. */
void bp_report_open_function(const struct bp_page *page, const struct bp_model *model,
                             uint32_t number);

/* sampled.c */
void bp_report_sampled_functions(const struct bp_page *page, const struct bp_model *model,
                                 const struct bp_report_settings *settings);

/* below.c: nothing where there is none. */
void bp_report_below_dsl(const struct bp_page *page, const struct bp_model *model);

/* suspect.c: the pattern for run --count that would confirm the largest sampled function: a new
 * text; NULL if there is none worth it. */
char *bp_report_suspect(const struct bp_model *model);
void bp_report_suspect_line(const struct bp_page *page, const struct bp_model *model);

/* group.c */
void bp_report_groups(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings);
/* "called from dsl.objects 82 %, dsl.fill 11 %, and 3 more", in parts of `whole`, is added;
 * nothing if nobody. */
void bp_report_callers(const struct bp_model *model, const struct bp_caller *callers,
                       uint32_t count, double whole, struct bp_text *text);

/* site.c: where the copies of a row come from, which is one of several. `call` may be
 * BP_NO_FUNCTION: any. */
struct bp_site_row {
    uint32_t caller;
    uint32_t call;
    uint32_t direction;
};
void bp_report_sites(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_site_row *rows, uint32_t count, uint32_t number);
/* device.c; each prints nothing where there is nothing. */
void bp_report_device_line(const struct bp_page *page, const struct bp_model *model);
void bp_report_devices(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings);
void bp_report_by_transfer(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings);
/* kernel.c. Who launched a kernel or asked for a copy; `unknown` where that is not known. */
const char *bp_report_cuda_caller(const struct bp_model *model, uint32_t number,
                                  const char *unknown);
void bp_report_kernels(const struct bp_page *page, const struct bp_model *model);
void bp_report_by_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings);
/* role.c: roles, ranks and machines, where there are several. */
void bp_report_roles(const struct bp_page *page, const struct bp_model *model, uint32_t top);
/* advice.c. Warnings are about the measurement, and stand before what to change. */
bool bp_advice_is_warning(const struct bp_advice *advice);
/* "up to 200 ms: dsl_objects takes 40.0 % of the wall", and why. */
void bp_report_one_advice(const struct bp_page *page, const struct bp_advice *advice, bool why);
void bp_report_advice(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings);

/* function.c, of a function: "12.3 ms", or "< 4.56 ms" where overhead hides it. */
bp_cell bp_cell_self;
/* Seconds; "unknown" if they are negative. */
bp_cell bp_cell_cpu;
bp_cell bp_cell_total;
/* With the wall in which it waited and nobody was busy. */
bp_cell bp_cell_function_wall;

#endif
