/* SPDX-License-Identifier: MIT
 *
 * Pools of time that samples divide. The self time of one intercepted function (or of the programs'
 * own code) for one purpose is a pool, over all its contexts and threads: a single context is often
 * too short to be sampled at all.
 */
#ifndef BP_TOOLS_MODEL_POOL_H
#define BP_TOOLS_MODEL_POOL_H

#include "tools/model_path.h"

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

/* model_sample.c: fills `samples` and what pools have of them. */
void bp_pools_read_samples(struct bp_pools *pools, struct bp_model *model);

/* Too few to divide a pool by. */
#define BP_POOL_LEAST 8

static inline bool bp_pool_is_divided(const struct bp_pool *pool) {
    return !pool->whole && pool->samples >= BP_POOL_LEAST && pool->weight > 0;
}

#endif
