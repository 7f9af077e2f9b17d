/* SPDX-License-Identifier: MIT
 *
 * Durations of calls by function; part of tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_CALL_H
#define BP_TOOLS_MODEL_CALL_H

#include "profile/format.h"

/* Calls of a function that returned; buckets are ticks of the model's tick_s. */
struct bp_call_times {
    uint64_t histogram[BP_BUCKETS];
    uint64_t returned;
    double inside_s; /* overhead within its calls, summed over them */
};

struct bp_model;

/* The mean of the function's `count` shortest calls, seconds. */
double bp_calls_shortest(const struct bp_model *model, uint32_t function, uint64_t count);

#endif
