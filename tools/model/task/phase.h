/* SPDX-License-Identifier: MIT
 *
 * Phases in a model; part of tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_TASK_PHASE_H
#define BP_TOOLS_MODEL_TASK_PHASE_H

#include <stdbool.h>
#include <stdint.h>

/* What a task spent in a phase. */
struct bp_task_phase {
    uint32_t phase;
    double s;
};

/* Time with this as the innermost phase, in thread-seconds. */
struct bp_model_phase {
    const char *name;
    uint64_t count; /* how often it was entered */
    double thread_s;
    double wall_s;
    double idle_s;         /* wall in which it waited and nobody was busy */
    double task_s;         /* of thread_s within tasks */
    double waiting_s;      /* of thread_s */
    double open_s;         /* wall from its beginnings to its ends; 0: not recorded */
    double started_s;      /* wall of threads and processes that were started in it */
    double started_task_s; /* of that, in tasks */
    double between;        /* part of what it has outside of tasks that is between the first task
                              and the last */
    uint32_t tasks;        /* in which it has time */
    uint64_t samples;      /* of those */
};

/* Its part of the wall, with what it waited for. */
static inline double bp_phase_wall(const struct bp_model_phase *phase) {
    return phase->wall_s + phase->idle_s + phase->started_s;
}

/* The part of the phase's time that is outside of tasks. */
static inline double bp_phase_outside(const struct bp_model_phase *phase) {
    double inside = phase->thread_s > 0 ? phase->task_s / phase->thread_s : 0;
    double s = (phase->wall_s + phase->idle_s) * (1 - inside);
    return (s > 0 ? s : 0) + phase->started_s - phase->started_task_s;
}

/* It is entered again and again while tasks are done: its time is between them. */
static inline bool bp_phase_recurs(const struct bp_model_phase *phase) {
    return phase->between > 0.5;
}

#endif
