/* SPDX-License-Identifier: MIT
 *
 * The steps in which tasks are added to a model, in this order:
 *
 *     task.c      which tasks there are
 *     join.c      which of them are one task over several threads
 *     function.c  what functions did in them
 *     phase.c     phases, with started.c (threads and processes that were started in them)
 *     cost.c      what they cost the wall
 *     outlier.c   the summary; which stand out, with typical.c (what the median task does)
 *     drop.c      the model without those
 */
#ifndef BP_TOOLS_MODEL_TASK_INTERNAL_H
#define BP_TOOLS_MODEL_TASK_INTERNAL_H

#include "tools/base/keys.h"
#include "tools/model/model.h"

/* Where a task of the model comes from. */
struct bp_task_source {
    uint32_t process;
    uint32_t item; /* in the profile's tasks */
};

struct bp_task_work {
    struct bp_task_source *sources; /* per task */
    struct bp_keys numbers;         /* of sources */
    uint32_t *next;                 /* per task: the next one joined to the same; BP_NO_TASK */
};

/* An item that is a phase to be shown; of those a range, whose time is in no node. */
bool bp_task_is_phase(const struct bp_task *item);
bool bp_task_is_range(const struct bp_task *item);
/* The name of the phase that an item is, or that its function is; "" if it is none. */
const char *bp_task_phase_name(const struct bp_profile *profile, uint32_t item);

/* Phases of the threads and processes that were started in them; `of_node` per thread and node. */
void bp_model_add_started(struct bp_model *model, uint32_t *const *of_node);

/* Items around an item of a profile; BP_NO_TASK if there is none. */
uint32_t bp_task_outer_task(const struct bp_profile *profile, uint32_t item);
uint32_t bp_task_outer_phase(const struct bp_profile *profile, uint32_t item);

/* The task's number in the model; BP_KEYS_NONE if it is none. */
uint32_t bp_task_number(const struct bp_task_work *work, uint32_t process, uint32_t item);

/* What the nodes of a task's thread grew by, overhead taken out: sparse, by rising node. */
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

/* The outermost task around a task, over threads. */
uint32_t bp_task_root(const struct bp_model *model, uint32_t number);

void bp_model_join_tasks(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_joined(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_task_functions(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_phases(struct bp_model *model, struct bp_task_work *work);
void bp_model_add_task_costs(struct bp_model *model);
void bp_model_summarise_tasks(struct bp_model *model);
void bp_model_drop_outliers(struct bp_model *model, struct bp_task_work *work);

#endif
