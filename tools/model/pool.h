/* SPDX-License-Identifier: MIT
 *
 * Pools of time that samples divide. The self time of one intercepted function (or of the programs'
 * own code) for one purpose is a pool, over all its contexts and threads: a single context is often
 * too short to be sampled at all.
 */
#ifndef BP_TOOLS_MODEL_POOL_H
#define BP_TOOLS_MODEL_POOL_H

#include "tools/model/path.h"

struct bp_pool {
    uint32_t function;
    const char *group; /* as far as the ledger knows */
    uint64_t calls;
    uint64_t samples;
    double weight; /* of the samples */
    double self_s;
    double wall_s;
    double idle_s;
    double blocked_s; /* part of self_s */
    double kept;      /* weight of samples that have the pool's own group */
    double named;     /* weight of samples of DSL functions that are not intercepted */
    bool whole;       /* a wait, a CUDA call, I/O whose purpose is known: nothing to divide */
};

/* Equal stacks of one context. */
struct bp_pool_sample {
    uint32_t pool;
    uint32_t context;
    struct bp_path_view view;
    uint64_t count;
    double weight;
};

struct bp_pools {
    const char **groups; /* per context, as far as the ledger knows */
    uint32_t *of;        /* per context: its pool */
    struct bp_pool *pools;
    uint32_t count;
    struct bp_pool_sample *samples;
    uint32_t sample_count;
};

void bp_pools_init(struct bp_pools *pools, struct bp_model *model);
void bp_pools_fini(struct bp_pools *pools);

/* The model's context_parts. */
void bp_model_make_context_parts(struct bp_model *model, const struct bp_pools *pools);

/* named.c: is the time of this sample DSL, though its ledger node is not? */
bool bp_pool_is_named(const struct bp_model *model, const struct bp_pool *pool,
                      const struct bp_path_view *view);
/* Gives such time to the DSL, wherever categories are summed. */
void bp_model_move_named(struct bp_model *model, const struct bp_pools *pools);

struct bp_line_reading;

/* sample.c: fills `samples` and what pools have of them; lines are read on the way. */
void bp_pools_read_samples(struct bp_pools *pools, struct bp_model *model,
                           struct bp_line_reading *lines);

/* Too few to divide a pool by. */
#define BP_POOL_LEAST 8

/* Deviations of the normal distribution that hold 95 of 100. */
#define BP_DEVIATIONS 1.96

/* The variance of a part of `s` seconds that `count` of a pool's samples fell into. One success and
 * one failure more than were seen: without them, no sample or all of them would mean certainty. */
static inline double bp_pool_variance(uint64_t samples, uint64_t count, double s) {
    double n = (double)samples;
    double p = ((double)count + 1) / (n + 2);
    return s * s * p * (1 - p) / n;
}

static inline bool bp_pool_is_divided(const struct bp_pool *pool) {
    return !pool->whole && pool->samples >= BP_POOL_LEAST && pool->weight > 0;
}

#endif
