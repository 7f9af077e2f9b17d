/* SPDX-License-Identifier: MIT
 *
 * Tasks and phases in a model; part of tools/model.h, which includes it. A task's figures are those
 * of the thread that ran it: work that it handed to other threads is theirs. Its categories, and
 * the own cost of the profiler, sum to its duration.
 */
#ifndef BP_TOOLS_MODEL_TASK_H
#define BP_TOOLS_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/rules.h"

/* What one function did in one task. */
struct bp_task_function {
    uint32_t function;
    uint32_t calls;
    double self_s;
};

struct bp_task_phase {
    uint32_t phase;
    double s;
};

struct bp_model_task {
    const char *id;    /* "" if nothing tells it from others */
    const char *name;  /* of its function or range */
    uint32_t function; /* or BP_NO_FUNCTION */
    uint32_t process;
    uint32_t thread; /* index in the model; BP_NO_THREAD if it is lost */
    uint32_t parent; /* the task within which it ran, BP_NO_TASK */
    double start_s;  /* from the start of the run */
    double duration_s;
    double wall_s; /* its part of the wall split */
    double idle_s; /* wall in which it waited and nobody was busy */
    double cpu_s;
    double waiting_s;
    double io_s;
    double overhead_s;
    double category_s[BP_CATEGORIES];
    uint64_t samples;
    bool failed;
    bool unfinished; /* it was running when its process ended, or was last seen */
    bool limited;    /* failed after the same time as others: a time limit */
    bool detailed;   /* functions and categories are known */
    bool outlier;
    bool dropped;            /* taken out of the model by --drop-outliers */
    uint32_t first_function; /* in bp_model.task_functions, by falling self_s */
    uint32_t function_count;
    uint32_t first_phase; /* in bp_model.task_phases */
    uint32_t phase_count;
};

/* Time with this as the innermost phase, in thread-seconds. */
struct bp_model_phase {
    const char *name;
    uint64_t count; /* how often it was entered */
    double thread_s;
    double wall_s;
    double idle_s;    /* wall in which it waited and nobody was busy */
    double task_s;    /* of thread_s within tasks */
    uint32_t tasks;   /* in which it has time */
    uint64_t samples; /* of those */
};

/* A task's CPU time may be as old as a clock tick. */
#define BP_TASK_TICK_S 0.01

#define BP_DEFAULT_OUTLIER_K 5.0

/* Over the tasks that are in no other task; durations are those of tasks that ended. */
struct bp_task_summary {
    uint32_t count;
    uint64_t folded; /* beyond those kept singly; not in the figures below */
    uint64_t lost;   /* not recorded */
    double folded_s;
    uint32_t ended;
    uint32_t failed;
    uint32_t unfinished;
    uint32_t limited;
    uint32_t plain; /* without details */
    uint64_t samples;
    double sum_s;
    double wall_s;
    double mean_s;
    double min_s;
    double median_s;
    double p75_s;
    double p90_s;
    double p95_s;
    double p99_s;
    double max_s;
    double mad_s;
    double outlier_k;
    double outlier_limit_s; /* INFINITY: too few tasks */
    uint32_t outliers;
    uint32_t dropped;
    double outlier_s;
    double outlier_wall_s; /* what they cost the wall, see bp_task_cost */
    uint32_t slots;        /* tasks that ran at the same time at most */
};

struct bp_model;

/* Of the tasks in no other task that ended, sorted: a new array. */
double *bp_task_durations(const struct bp_model *model, uint32_t *count);

/* What a task cost the wall, busy or waiting; of tasks side by side each has its part. */
double bp_task_cost(const struct bp_model_task *task);
/* What the wall would be shorter, had it taken as long as the median task. */
double bp_task_surplus(const struct bp_model *model, const struct bp_model_task *task);

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

/* How tasks are looked at; zeros are the defaults. */
struct bp_task_wishes {
    double outlier_k;
    bool drop_outliers;
};

#endif
