/* SPDX-License-Identifier: MIT
 *
 * What the time was for, and which functions took it: part of the model. Exact times of the ledger,
 * divided by samples where there are enough. The times of all groups sum to the thread-seconds
 * without the profiler's overhead; in the wall split to what threads have of it. An error is half
 * of the interval that holds the truth in 95 of 100 cases; 0 where nothing was estimated.
 */
#ifndef BP_TOOLS_MODEL_GROUP_H
#define BP_TOOLS_MODEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/rules/rules.h"

struct bp_caller {
    uint32_t function;
    double s;
};

enum bp_part_kind {
    BP_PART_EXACT,   /* the ledger's own */
    BP_PART_SAMPLED, /* a part of a node's self time */
    BP_PART_BLOCKED  /* off the CPU, in no call that battprof sees: samples say nothing about it */
};

/* What a function took. */
struct bp_part {
    uint32_t function;
    enum bp_category category; /* of the time in the ledger */
    enum bp_part_kind kind;
    uint64_t calls; /* 0 where they are not counted */
    double calls_s; /* what these calls took themselves, however samples divide it */
    uint64_t samples;
    double self_s;
    double error_s;
    double cpu_s; /* that samples found; unknown where there are none */
    double wall_s;
    double idle_s;             /* of a wait: wall in which nobody was busy */
    struct bp_caller *callers; /* by falling s */
    uint32_t caller_count;
    struct bp_caller *users; /* the user's functions that a library works for, the same */
    uint32_t user_count;
};

struct bp_group {
    const char *name;
    uint64_t calls; /* into the group, from outside */
    double self_s;
    double error_s;
    double wall_s;
    double idle_s;
    struct bp_part *parts; /* by falling self_s */
    uint32_t part_count;
    struct bp_caller *callers; /* functions outside the group that called into it, the same */
    uint32_t caller_count;
};

/* A function that samples found in a context's own time; `part` of 1. */
struct bp_context_part {
    uint32_t context;
    uint32_t function;
    uint64_t samples;
    double part;
};

#endif
