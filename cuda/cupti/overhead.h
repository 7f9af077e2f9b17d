/* SPDX-License-Identifier: MIT
 *
 * Memory that came with records of a buffer. What is more than that is lost.
 */
#ifndef BP_CUDA_CUPTI_OVERHEAD_H
#define BP_CUDA_CUPTI_OVERHEAD_H

#include <stdint.h>

#define BP_GARBAGE 64
struct bp_garbage {
    void *items[BP_GARBAGE];
    uint32_t count;
};
void bp_overhead_take(const void *record, struct bp_garbage *garbage);
void bp_overhead_free(struct bp_garbage *garbage);

#endif
