/* SPDX-License-Identifier: MIT
 *
 * Whole sampled stacks, equal ones of all threads and processes as one: part of the model. A stack
 * is its innermost function and the stack that called it, so they are a forest.
 */
#ifndef BP_TOOLS_MODEL_FOLD_H
#define BP_TOOLS_MODEL_FOLD_H

#include <stdint.h>

#define BP_NO_STACK UINT32_MAX

struct bp_stack {
    uint32_t parent;   /* comes before it; BP_NO_STACK: it is a thread's root, the program */
    uint32_t function; /* BP_NO_FUNCTION: the callers beyond are not known */
    uint64_t cpu_ns;   /* of the samples that ended here; 0 of those that only lead further */
};

#endif
