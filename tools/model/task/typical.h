/* SPDX-License-Identifier: MIT
 *
 * What the median task does, and what another one does beyond it.
 */
#ifndef BP_TOOLS_MODEL_TASK_TYPICAL_H
#define BP_TOOLS_MODEL_TASK_TYPICAL_H

#include "tools/model/model.h"

/* What the median task does; arrays by the model's numbers. */
struct bp_task_typical {
    uint32_t tasks; /* that it is made of */
    double *function_s;
    double *phase_s;
};

void bp_task_typical_init(struct bp_task_typical *typical, const struct bp_model *model);
void bp_task_typical_fini(struct bp_task_typical *typical);
/* The task's functions by what they took beyond the median task: a new array. */
struct bp_task_function *bp_task_excess(const struct bp_model *model,
                                        const struct bp_task_typical *typical,
                                        const struct bp_model_task *task);

#endif
