/* SPDX-License-Identifier: MIT
 *
 * Tasks in a model; part of tools/model/model.h, which includes it. A task's figures are
 * those of the thread that ran it and of the tasks in other threads and processes that are joined
 * to it (join.c). Its categories, and the profiler's overhead, sum to its duration
 * and `inner_s`, without `handed_s`.
 */
#ifndef BP_TOOLS_MODEL_TASK_TASK_H
#define BP_TOOLS_MODEL_TASK_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/model/task/phase.h"
#include "tools/rules/rules.h"

/* What one function did in one task. */
struct bp_task_function {
    uint32_t function;
    uint32_t calls;
    double self_s;
    double total_s; /* in which it was open */
};

/* Figures of one item alone. */
struct bp_task_own {
    double wall_s;
    double idle_s;
    double cpu_s;
    double overhead_s;
};

struct bp_model_task {
    const char *id;    /* "" if nothing tells it from others */
    const char *name;  /* of its function or range */
    uint32_t function; /* or BP_NO_FUNCTION */
    uint32_t process;
    uint32_t thread; /* index in the model; BP_NO_THREAD if it is lost */
    uint32_t parent; /* the task within which it ran, or which it is joined to; BP_NO_TASK */
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
    bool joined;     /* its parent is in another thread, and waited for it */
    bool outer;      /* it only waited while the tasks ran: it is none */
    uint32_t inner;  /* tasks of other threads that are joined to it */
    double inner_s;  /* their time */
    double handed_s; /* for which its thread waited while they ran: in no category */
    struct bp_task_own own;
    bool dropped;            /* taken out of the model by --drop-outliers */
    uint32_t first_function; /* in the tasks' functions, by falling self_s */
    uint32_t function_count;
    uint32_t first_phase; /* in the tasks' phases */
    uint32_t phase_count;
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
    uint32_t outliers_kept; /* that should have been dropped: their details are not known */
    double whole_wall_s;    /* the wall with those that were dropped; 0: none should be */
    double outlier_s;
    double outlier_wall_s; /* what they cost the wall, see bp_task_cost */
    uint32_t slots;        /* tasks that ran at the same time at most */
};

/* How tasks are looked at; zeros are the defaults. */
struct bp_task_wishes {
    double outlier_k;
    bool drop_outliers;
};

struct bp_model_tasks {
    struct bp_model_task *list; /* by start */
    uint32_t count;
    struct bp_task_function *functions;
    uint32_t function_count;
    struct bp_task_phase *phases;
    uint32_t phase_count;
    struct bp_task_summary summary;
    struct bp_task_wishes wishes;
};

struct bp_model;

/* What reports count as a task: in no other, and not merely waiting for the tasks. */
static inline bool bp_task_counts(const struct bp_model_task *task) {
    return task->parent == BP_NO_TASK && !task->outer;
}

/* It is in no other task of its own thread. */
static inline bool bp_task_is_outermost(const struct bp_model_task *task) {
    return task->parent == BP_NO_TASK || task->joined;
}

/* Its thread waited for most of its time, and what it waited for is not known. */
bool bp_task_is_elsewhere(const struct bp_model_task *task);

/* Durations of the tasks that ended and are in no other task, sorted: a new array. */
double *bp_task_durations(const struct bp_model *model, uint32_t *count);

/* What a task cost the wall, busy or waiting; of tasks side by side each has its part. */
double bp_task_cost(const struct bp_model_task *task);
/* What the wall would be shorter, had it taken as long as the median task. */
double bp_task_surplus(const struct bp_model *model, const struct bp_model_task *task);

#endif
