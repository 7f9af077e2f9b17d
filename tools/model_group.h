/* SPDX-License-Identifier: MIT
 *
 * Groups of functions, over all threads: part of the model. The times of all groups sum to the
 * thread-seconds without the profiler's own cost; in the wall split to what threads have of it.
 */
#ifndef BP_TOOLS_MODEL_GROUP_H
#define BP_TOOLS_MODEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/rules.h"

struct bp_caller {
    uint32_t function;
    double s;
};

/* What a function took in a group. */
struct bp_group_part {
    uint32_t function;
    enum bp_category category; /* of the time in the ledger */
    uint64_t calls;            /* 0 where they are not counted */
    double self_s;
    double wall_s;
};

struct bp_group {
    const char *name;
    uint64_t calls; /* into the group, from outside */
    double self_s;
    double wall_s;
    struct bp_group_part *parts; /* by falling self_s */
    uint32_t part_count;
    struct bp_caller *callers; /* functions outside the group that called into it, the same */
    uint32_t caller_count;
};

#endif
