/* SPDX-License-Identifier: MIT
 *
 * Scratch of a model while it is built; freed before anybody else sees the model.
 */
#ifndef BP_TOOLS_MODEL_WORK_H
#define BP_TOOLS_MODEL_WORK_H

#include "tools/base/keys.h"
#include "tools/model/model.h"

/* What a function's mean is made of. */
struct bp_function_work {
    double recorded_s;  /* time in which it was open, without that cost */
    double total_s;     /* total without any overhead */
    double durations_s; /* of all calls that ended, without `inside` */
    uint32_t coverage;  /* index + 1 of its library */
};

/* Overhead of one call in ticks: within its time, and outside, in its caller's. */
struct bp_call_overhead {
    double inside;
    double outside;
};

/* Parts of a CUDA call's self time; the rest is what CUDA took. */
struct bp_node_split {
    double transfer_s;
    double wait_s[BP_CATEGORIES]; /* by the category that launched the kernel */
};

struct bp_thread_work {
    struct bp_node_split *split; /* per node; NULL if none of its nodes has one */
    double *self_s;              /* per node, overhead subtracted */
    double *task_self_s;         /* per node: what all tasks would have of it; NULL without any */
    uint32_t *function;          /* per node */
    uint32_t *context;           /* per node */
    uint32_t *around;            /* per node: the outermost recursive node around it; 0: none */
    double *beyond;              /* per node: the part in which it was open of what `around` did
                                    outside the node's subtree */
    double idle_rate;            /* of its waits' time that was wall with no busy thread */
    double part_s;               /* of the wall, as recorded */
};

/* A wall page and the stretch of time that it divides. */
struct bp_wall_tree {
    const struct bp_model_process *owner;
    uint64_t start;
    uint64_t end;
    bool has_session;
};

struct bp_model_work {
    struct bp_keys function_table;
    struct bp_keys name_table; /* texts of the profiles that are kept in another form */
    const char **names;
    struct bp_keys context_table;
    struct bp_keys coverage_table;
    struct bp_keys transfer_table;
    struct bp_keys kernel_table;
    struct bp_function_work *functions;
    struct bp_thread_work *threads;
    struct bp_wall_tree *trees; /* the model has their number */
    char *key;
    size_t key_size;
};

#endif
