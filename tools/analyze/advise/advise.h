/* SPDX-License-Identifier: MIT
 *
 * What to change first: a table of rules (advise.c), each of which looks at a finished model and
 * adds what it finds, with the evidence and what changing it would save.
 */
#ifndef BP_TOOLS_ANALYZE_ADVISE_ADVISE_H
#define BP_TOOLS_ANALYZE_ADVISE_ADVISE_H

#include "tools/analyze/analysis.h"

/* Takes the texts. What it saves is in tasks as far as the function is; a rule that knows better
 * says so in what it gets. NULL where the saving is not worth a line. */
struct bp_advice *bp_advise(struct bp_analysis *analysis, uint32_t function, double saves_s,
                            uint64_t bytes, char *what, char *why);

/* About the measurement itself: level "warning", no saving. Takes the texts. */
void bp_advise_warning(struct bp_analysis *analysis, char *what, char *why);
void bp_advise_remark(struct bp_analysis *analysis, char *what, char *why);

/* NULL if there is no time of this group. */
const struct bp_group *bp_advise_group(const struct bp_model *model, const char *name);
/* The part of a group's time that its functions have in tasks, 0 to 1. */
double bp_advise_in_tasks(const struct bp_model *model, const struct bp_group *group);
/* As bp_advise(), about a group: how much of it is in tasks is that of its functions. */
void bp_advise_by_group(struct bp_analysis *analysis, const struct bp_group *group, double saves_s,
                        char *what, char *why);

/* A function's name as the report has it: borrowed. */
const char *bp_advise_name(const struct bp_model *model, uint32_t function);
/* Who asked for copies: a function; of a program's own code function and line, where most of
 * them can only be from there. A new text. */
char *bp_advise_caller(const struct bp_model *model, const struct bp_model_transfer *transfer);
/* Who calls a function: the caller of most of its calls that is no CUDA call. A new text. */
char *bp_advise_callers(const struct bp_model *model, uint32_t function);
/* A CUDA call that pins host memory or releases it. */
bool bp_advise_is_pinning(const char *name);
const char *bp_task_name(const struct bp_model_task *task);

/* A process was started for every task or two: what each pays once is in that advice. */
bool bp_advise_pooled(const struct bp_model *model);

/* An advice about lines has the time of this function, which they call. */
bool bp_advise_has_cause(const struct bp_analysis *analysis, uint32_t function);

/* All rules: what they find, sorted. */
void bp_advise_all(struct bp_analysis *analysis);

/* The rules, by file. */
void bp_advise_transfers(struct bp_analysis *analysis);
void bp_advise_allocations(struct bp_analysis *analysis);
void bp_advise_logging(struct bp_analysis *analysis);
void bp_advise_process_start(struct bp_analysis *analysis);
void bp_advise_collection(struct bp_analysis *analysis);
void bp_advise_lines(struct bp_analysis *analysis);
void bp_advise_largest(struct bp_analysis *analysis);
void bp_advise_gil(struct bp_analysis *analysis);
void bp_advise_locks(struct bp_analysis *analysis);
void bp_advise_tiny_functions(struct bp_analysis *analysis);
void bp_advise_idle_device(struct bp_analysis *analysis);
void bp_advise_outliers(struct bp_analysis *analysis);
void bp_advise_stopped(struct bp_analysis *analysis);
void bp_advise_generation(struct bp_analysis *analysis);
void bp_advise_measurement(struct bp_analysis *analysis);

/* hooked.c: which functions to hook instead of a whole library: a new text. */
char *bp_advise_fewer_hooks(const struct bp_model *model);

#endif
