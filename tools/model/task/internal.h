/* SPDX-License-Identifier: MIT
 *
 * The steps in which tasks are added to a model, in this order:
 *
 *     model_task.c           which tasks there are
 *     model_task_function.c  what functions did in them
 *     model_task_phase.c     phases
 *     model_task_cost.c      what they cost the wall
 *     model_task_outlier.c   the summary; which stand out
 *     model_task_drop.c      the model without those
 */
#ifndef BP_TOOLS_MODEL_TASK_INTERNAL_H
#define BP_TOOLS_MODEL_TASK_INTERNAL_H

#include "tools/model.h"
#include "tools/table.h"

/* Where a task of the model comes from. */
struct bp_task_source {
    uint32_t process;
    uint32_t item; /* in the profile's tasks */
};

struct bp_task_work {
    struct bp_task_source *sources; /* per task */
    struct bp_table numbers;        /* of sources */
};

/* An item that is a phase to be shown. */
bool bp_task_is_phase(const struct bp_task *item);

/* Items around an item of a profile; BP_NO_TASK if there is none. */
uint32_t bp_task_outer_task(const struct bp_profile *profile, uint32_t item);
uint32_t bp_task_outer_phase(const struct bp_profile *profile, uint32_t item);

/* The task's number in the model; BP_TABLE_NONE if it is none. */
uint32_t bp_task_number(const struct bp_task_work *work, uint32_t process, uint32_t item);

/* What the nodes of a task's thread grew by, own cost taken out: sparse, by rising node. */
struct bp_task_growth {
    const struct bp_task_node *nodes;
    uint32_t count;
    double *self_s;
    double overhead_s;
};

/* 0 nodes for a task without details; `self_s` is freed by fini. */
void bp_task_growth_init(struct bp_task_growth *growth, const struct bp_model *model,
                         const struct bp_task_source *source, const struct bp_model_task *task);
void bp_task_growth_fini(struct bp_task_growth *growth);

void bp_model_add_task_functions(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_phases(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_task_costs(struct bp_model *model);
void bp_model_summarise_tasks(struct bp_model *model);
void bp_model_drop_outliers(struct bp_model *model, struct bp_task_work *work);

#endif
