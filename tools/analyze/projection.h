/* SPDX-License-Identifier: MIT
 *
 * What a run of more tasks would take, from this one: what is paid once apart from what every task
 * costs. Tasks may run side by side; then a task costs the wall its time and the gap before the
 * next one on the same place, divided by the number of places. A projection to the run's own number
 * of tasks gives the run's own wall. How sure it is comes from simulated runs
 * (tools/analyze/forecast.h).
 */
#ifndef BP_TOOLS_ANALYZE_PROJECTION_H
#define BP_TOOLS_ANALYZE_PROJECTION_H

#include "tools/base/options.h"
#include "tools/model/model.h"

/* Fewer tasks say nothing about how they differ. */
#define BP_PROJECTION_FEWEST 3

struct bp_projection {
    uint32_t from;   /* tasks of this run */
    uint32_t places; /* tasks that ran side by side */
    /* Wall that is paid once: these four, without the phases that grow, sum to once_s. */
    double before_s; /* until the first task began */
    double after_s;  /* after the last one ended */
    double uneven_s; /* places that began later than the first, or had nothing to do at the end */
    double warm_s;   /* what first tasks took longer than the others */
    double once_s;
    double grows_s; /* of a task: its part of phases that grow with their number */
    double task_s;  /* mean time of a task, first ones without their warm-up */
    double gap_s;   /* mean time between two on the same place */
    double deviation_s;
    double *times; /* of the tasks that task_s is the mean of, by start */
    uint32_t time_count;
    double waste_s;   /* of uneven_s, what the order of the tasks does not explain */
    double load;      /* part of their time for which threads had no CPU */
    bool by_workers;  /* places are those of workers that tasks hand their work to */
    double step_part; /* of what tasks cost this run's wall, what the steps of as many explain */
    double outside[BP_CATEGORIES]; /* wall outside of tasks, and in them, by category */
    double inside[BP_CATEGORIES];
    double outside_overhead_s;
    double inside_overhead_s;
    bool drifts;    /* tasks became longer or shorter beyond chance */
    double drift_s; /* by how much from the first to the last */
};

/* What a scale gives: the wall, the interval in which 19 of 20 such runs lie, and the categories'
 * parts of it. */
struct bp_scaled {
    uint64_t tasks;
    double wall_s;
    double low_s;
    double high_s;
    double category_s[BP_CATEGORIES];
    double overhead_s;
};

/* False if the run has too few tasks. From one run it is unknown whether loading takes as long
 * for more tasks: phases outside of tasks are paid once unless `grows` names them; those between
 * tasks are in the gaps. */
bool bp_projection_init(struct bp_projection *projection, const struct bp_model *model,
                        const struct bp_words *grows);
/* Also after bp_projection_init() returned false. */
void bp_projection_fini(struct bp_projection *projection);
struct bp_scaled bp_projection_at(const struct bp_projection *projection, uint64_t tasks);

/* What one more task costs the wall. */
double bp_projection_step(const struct bp_projection *projection);

/* How many times as many gaps between tasks so many tasks have. */
double bp_projection_gaps(const struct bp_projection *projection, uint64_t tasks);

/* Tasks differ so much that an interval from a few of them promises too much. */
bool bp_projection_uneven(const struct bp_projection *projection);

/* What a change takes off the wall: once, and of every task's step. */
struct bp_saving {
    double once_s;
    double step_s;
};

/* This run would be shorter by `wall_s`; the part `in_tasks` (0 to 1) of that comes from its tasks.
 * A step shrinks by no more than tasks have of it; what the run saves beyond that, the wait for the
 * last long task say, it saves once. */
struct bp_saving bp_projection_saving(const struct bp_projection *projection, double wall_s,
                                      double in_tasks);

/* The largest number of tasks whose run takes at most `s` after that; 0 if not even one does. */
uint64_t bp_projection_fit(const struct bp_projection *projection, double s,
                           const struct bp_saving *saving);

#endif
