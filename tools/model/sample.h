/* SPDX-License-Identifier: MIT
 *
 * Stack samples: part of tools/model/model.h, which includes it. Equal stacks of all threads and
 * processes are one. A stack is its innermost function and the stack that called it, so they are a
 * forest.
 */
#ifndef BP_TOOLS_MODEL_SAMPLE_H
#define BP_TOOLS_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/base/keys.h"

#define BP_NO_STACK UINT32_MAX

struct bp_sampled_stack {
    uint32_t parent;   /* comes before it; BP_NO_STACK: it is a thread's root, the program */
    uint32_t function; /* BP_NO_FUNCTION: the callers beyond are not known */
    uint64_t cpu_ns;   /* of the samples that ended here; 0 of those that only lead further */
};

struct bp_symbols;

struct bp_model_samples {
    bool on;        /* in some process */
    bool tell_cpu;  /* they hold most of the CPU time that the threads' clocks have */
    uint64_t count; /* that divide times */
    struct bp_sampled_stack *stacks;
    uint32_t stack_count;
    struct bp_symbols *symbols; /* NULL: no address was looked up */
    bool lent;                  /* the symbols are another's, and have files of other models */
    struct bp_keys files;       /* of the symbols: numbers of those that this model asked for */
    const char **unnamed;       /* why files gave no names: one text each, borrowed */
    uint32_t unnamed_count;
};

#endif
