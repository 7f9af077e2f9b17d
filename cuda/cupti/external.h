/* SPDX-License-Identifier: MIT
 *
 * The external correlation id that CUPTI carries from a call to its records: whose call it was, and
 * the slot that awaits its work. 16 bits thread, 20 bits node, 28 bits slot.
 */
#ifndef BP_CUDA_CUPTI_EXTERNAL_H
#define BP_CUDA_CUPTI_EXTERNAL_H

#include <stdint.h>

#include "cuda/slot.h"

/* Calls beyond these are not pushed. */
#define BP_EXTERNAL_THREADS 0xffffu
#define BP_EXTERNAL_NODES 0xfffffu

struct bp_external {
    uint32_t thread;
    uint32_t node;
    uint32_t slot; /* its sequence */
};

static inline uint64_t bp_external_pack(struct bp_external external) {
    return (uint64_t)external.thread << 48 | (uint64_t)external.node << 28 |
           (external.slot & (BP_SLOT_SEQUENCES - 1));
}

static inline struct bp_external bp_external_unpack(uint64_t id) {
    return (struct bp_external){.thread = (uint32_t)(id >> 48),
                                .node = (uint32_t)(id >> 28) & BP_EXTERNAL_NODES,
                                .slot = (uint32_t)id & (BP_SLOT_SEQUENCES - 1)};
}

#endif
