/* SPDX-License-Identifier: MIT
 *
 * What to change first: a table of rules (advise.c), each of which looks at a finished model and
 * adds what it finds, with the evidence and what changing it would save.
 */
#ifndef BP_TOOLS_ADVISE_H
#define BP_TOOLS_ADVISE_H

#include "tools/model_internal.h"

/* Takes the texts. What it saves is in tasks as far as the function is; a rule that knows better
 * says so in what it gets. NULL where the saving is not worth a line. */
struct bp_advice *bp_advise(struct bp_model *model, uint32_t function, double saves_s,
                            uint64_t bytes, char *what, char *why);

/* About the measurement itself: level "warning", no saving. Takes the texts. */
void bp_advise_warning(struct bp_model *model, char *what, char *why);
void bp_advise_remark(struct bp_model *model, char *what, char *why);

/* NULL if there is no time of this group. */
const struct bp_group *bp_advise_group(const struct bp_model *model, const char *name);
/* As bp_advise(), about a group: how much of it is in tasks is that of its functions. */
void bp_advise_by_group(struct bp_model *model, const struct bp_group *group, double saves_s,
                        char *what, char *why);

#define BP_ADVISE_NAME 200
/* A function's name as the report has it. */
const char *bp_advise_name(const struct bp_model *model, uint32_t function,
                           char text[BP_ADVISE_NAME]);
/* Who asked for copies: a function; of a program's own code function and line, where most of
 * them can only be from there. */
const char *bp_advise_caller(const struct bp_model *model, const struct bp_model_transfer *transfer,
                             char text[BP_ADVISE_NAME]);
/* "1.23 ms" within a sentence. */
const char *bp_advise_time(double s, char text[32]);
const char *bp_task_name(const struct bp_model_task *task);

/* A process was started for every task or two: what each pays once is in that advice. */
bool bp_advise_pooled(const struct bp_model *model);

/* The rules, by file. */
void bp_advise_transfers(struct bp_model *model);
void bp_advise_allocations(struct bp_model *model);
void bp_advise_logging(struct bp_model *model);
void bp_advise_process_start(struct bp_model *model);
void bp_advise_collection(struct bp_model *model);
void bp_advise_largest(struct bp_model *model);
void bp_advise_gil(struct bp_model *model);
void bp_advise_locks(struct bp_model *model);
void bp_advise_tiny_functions(struct bp_model *model);
void bp_advise_idle_device(struct bp_model *model);
void bp_advise_outliers(struct bp_model *model);
void bp_advise_stopped(struct bp_model *model);
void bp_advise_generation(struct bp_model *model);
void bp_advise_measurement(struct bp_model *model);

#endif
