/* SPDX-License-Identifier: MIT
 *
 * What is worth changing, by its share of the wall: functions of the DSL as candidates for the GPU,
 * and parts of the framework. What a change would do to the whole run follows Amdahl's law. Whether
 * a function gains at all from a GPU is decided by figures, not by its rank: a call that takes less
 * than a launch and two copies does not, unless calls are batched.
 */
#ifndef BP_TOOLS_ANALYZE_PRIORITY_H
#define BP_TOOLS_ANALYZE_PRIORITY_H

#include "tools/analyze/cause.h"
#include "tools/model/model.h"

/* Percent of the wall from which on a function is of high, medium and low priority. */
struct bp_levels {
    double high;
    double medium;
    double low;
};
#define BP_DEFAULT_LEVELS ((struct bp_levels){10, 5, 1})

enum bp_priority { BP_MINIMAL, BP_LOW, BP_MEDIUM, BP_HIGH };

enum bp_priority bp_priority_of(const struct bp_levels *levels, double percent);
/* "HIGH", "MEDIUM", "LOW", "-" */
const char *bp_priority_name(enum bp_priority priority);

/* What one use of the device costs before it computes anything, and where that is known from. */
struct bp_device_cost {
    double launch_s;
    double copy_s[2];  /* latency of a copy to the device, from it */
    double rate[2];    /* bytes per second */
    bool launch_known; /* from this run; else assumed */
    bool copy_known[2];
};

/* A launch and two small copies: what one use of the device costs at least. */
double bp_device_latency(const struct bp_device_cost *device);

enum bp_verdict {
    BP_KEEP,  /* stays on the CPU */
    BP_BATCH, /* pays if at least break_even calls are made at once */
    BP_MOVE,  /* pays call by call */
    BP_LINE   /* one line has most of its time: that first */
};

struct bp_candidate {
    uint32_t function;
    enum bp_priority priority;
    double share; /* of the wall, 0 to 1 */
    double call_s;
    double factor[2];  /* expected speed-up of the function, from and to */
    double after_s[2]; /* wall of the run then: with the larger speed-up, and with the smaller and
                          launches and copies */
    double bytes[2];   /* per call, in and out; -1 where unknown */
    double device_s;   /* one call on the device: launch, copies, and the work that is left */
    double together;   /* calls that could be batched: those of a task, or of the run */
    double break_even; /* calls in a batch; INFINITY if no batch is large enough */
    enum bp_verdict verdict;
    struct bp_main_line line; /* of BP_LINE */
};

/* A part of the framework, and the wall if it were twice as fast, or not there. */
struct bp_framework_part {
    char *label;
    enum bp_priority priority;
    double wall_s;
    double half_s;
    double without_s;
};

struct bp_priorities {
    struct bp_device_cost device;
    struct bp_candidate *candidates; /* of the DSL, by falling share, down to LOW */
    uint32_t candidate_count;
    double after_s[2]; /* the wall with all that count sped up */
    struct bp_framework_part *parts;
    uint32_t part_count;
};

struct bp_priorities *bp_priorities_new(const struct bp_model *model,
                                        const struct bp_levels *levels);
void bp_priorities_free(struct bp_priorities *priorities);

/* HIGH or MEDIUM, and something for the device. */
bool bp_candidate_counts(const struct bp_candidate *candidate);

#endif
