/* SPDX-License-Identifier: MIT
 *
 * Visits everything a model knows by call path: the calling contexts of the ledger, and the sampled
 * stacks. A row has its path, so an exporter needs nothing else of the model but the functions.
 */
#ifndef BP_TOOLS_MODEL_WALK_H
#define BP_TOOLS_MODEL_WALK_H

#include "tools/model/model.h"

/* Instead of the number of a thread: the sums over all threads and processes. */
#define BP_ALL_THREADS UINT32_MAX

/* Twice what the sampler keeps of a stack. A damaged file may chain all its frames. */
#define BP_WALK_DEEPEST 1024

enum bp_walk_kind {
    BP_WALK_CONTEXT, /* exact: a calling context; the self times of all sum to the thread time */
    BP_WALK_PART,    /* an estimate: what samples found in the self time of the context before it */
    BP_WALK_STACK    /* a whole stack; its time is the CPU time of its samples */
};

struct bp_walk_row {
    enum bp_walk_kind kind;
    uint32_t context;          /* index in the model's contexts; of a stack BP_NO_NODE */
    uint32_t contexts;         /* a context and all below it */
    uint32_t depth;            /* callers of its function */
    const uint32_t *functions; /* of the model: callers from the outermost on, last its own at
                                  `depth`. BP_NO_FUNCTION: callers that are unknown */
    uint64_t calls;            /* of a context */
    uint64_t bytes;            /* that these calls copied between host and device */
    uint64_t direction_bytes[BP_DIRECTIONS]; /* of these, as in bp_thread_context */
    uint64_t devices;
    uint64_t samples; /* of a part or a stack */
    double self_s;
    double total_s; /* with all contexts below it */
    double wall_s;  /* of a context: its wall split, and what it waited alone */
    double total_wall_s;
    double category_s[BP_CATEGORIES]; /* self_s by category: a CUDA call has two or three */
};

/* Rows and their paths are gone when it returns. False: what is below the context is left out. */
typedef bool bp_walk_visit(const struct bp_walk_row *row, void *data);

/* Contexts of a thread, an index in the model's thread_list, or of all threads: callers before what
 * they call, equals by falling total. The parts of a context follow it, the largest first. */
void bp_walk_contexts(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                      void *data);

/* Sampled stacks by falling time. Beyond BP_WALK_DEEPEST the outermost callers are left out. */
void bp_walk_stacks(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                    void *data);

#endif
