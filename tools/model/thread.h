/* SPDX-License-Identifier: MIT
 *
 * Threads, what they spent, and the calls that they were in: part of tools/model/model.h, which
 * includes it.
 */
#ifndef BP_TOOLS_MODEL_THREAD_H
#define BP_TOOLS_MODEL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/reader.h"
#include "tools/rules/rules.h"

/* Thread-seconds: the sums over all threads. */
struct bp_thread_time {
    double total_s;
    double cpu_s;
    double overhead_s;
    double overhead_error_s;
    double category_s[BP_CATEGORIES];
    double running_s; /* of the framework; this and the next four sum to it */
    double waiting_s;
    double io_s;
    double cuda_api_s;
    double kernel_wait_s;     /* for kernels launched outside the DSL */
    double dsl_kernel_wait_s; /* for the others: part of the DSL */
    double gil_s;             /* of waiting_s: for Python's GIL */
    double paused_s;          /* of no category: recording was paused */
};

/* What a node of a thread adds to its context. */
struct bp_thread_context {
    uint32_t context;
    uint64_t calls;
    uint64_t bytes;                          /* copied between host and device */
    uint64_t direction_bytes[BP_DIRECTIONS]; /* of these */
    uint64_t devices; /* of these copies, a bit for each index in the model up to the 64th */
    double self_s;
    double wall_s;                    /* its part of the wall split */
    double idle_s;                    /* of a wait: wall in which nobody was busy */
    double category_s[BP_CATEGORIES]; /* of self_s */
};

/* Samples of a thread with one stack. */
struct bp_thread_stack {
    uint32_t stack;
    uint32_t context; /* that was open */
    uint64_t samples;
    uint64_t cpu_ns;
};

struct bp_model_thread {
    uint32_t process;
    const struct bp_profile_thread *source;
    struct bp_thread_context *contexts; /* per node of the source: walk.h */
    struct bp_thread_stack *stacks;
    uint32_t stack_count;
    double lifetime_s;
    double sum_s; /* self times and overhead: equals the lifetime */
    double overhead_s;
    double category_s[BP_CATEGORIES];
    double waiting_s;
    double io_s;
    double cuda_s;        /* in CUDA calls: busy, but perhaps not on a CPU */
    double busy_s;        /* not in a wait */
    double paused_s;      /* recording was paused */
    double cpu_s;         /* unknown without has_clocks */
    double runqueue_s;    /* busy, but without a CPU: others had it */
    double wall_s;        /* without its part of pauses */
    double paused_wall_s; /* that */
    double idle_s;        /* wall with no busy thread that it ended */
    double own_idle_s;    /* of that, known to be in its waits */
    double all_wait_s; /* of waiting_s, while no thread was busy; -1: only its bounds are known */
    double all_wait_least_s; /* these; -1: nor are they */
    double all_wait_most_s;
    double blocked_s; /* busy by what we saw, blocked by its CPU clock */
    bool has_clocks;  /* false: blocked_s is not known */
};

struct bp_in_flight {
    uint32_t thread; /* index in the model */
    uint32_t function;
    uint32_t depth; /* 0 is the innermost call of its thread */
    double for_s;
};

struct bp_model;

/* Time in which threads could have run and had no CPU, as far as their clocks are known; 0 where it
 * is too little to matter. `could_run_s` may be NULL. */
double bp_model_starved_s(const struct bp_model *model, double *could_run_s);

/* all_wait_s of all threads, or what it is at most; -1 if nothing is known. */
double bp_model_all_wait(const struct bp_model *model, bool *exact);

#endif
