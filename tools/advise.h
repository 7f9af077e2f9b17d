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

/* The rules, by file. */
void bp_advise_transfers(struct bp_model *model);
void bp_advise_allocations(struct bp_model *model);
void bp_advise_logging(struct bp_model *model);
void bp_advise_imports(struct bp_model *model);
void bp_advise_process_start(struct bp_model *model);
void bp_advise_gil(struct bp_model *model);
void bp_advise_locks(struct bp_model *model);
void bp_advise_tiny_functions(struct bp_model *model);
void bp_advise_idle_device(struct bp_model *model);
void bp_advise_outliers(struct bp_model *model);
void bp_advise_generation(struct bp_model *model);
void bp_advise_measurement(struct bp_model *model);

#endif
