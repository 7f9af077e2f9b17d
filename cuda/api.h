/* SPDX-License-Identifier: MIT
 *
 * The CUDA calls that are intercepted and what they do, from runtime_api.def and driver_api.def.
 */
#ifndef BP_CUDA_API_H
#define BP_CUDA_API_H

#include <stdint.h>

#include "interpose/thread.h"

enum bp_cuda_class {
    BP_CUDA_OTHER,
    BP_CUDA_ALLOCATION,
    BP_CUDA_MANAGED,  /* allocation of managed memory, whose pages move by themselves */
    BP_CUDA_MODULE,   /* modules, contexts, graphs: loading, compiling, creating */
    BP_CUDA_PREFETCH, /* (memory, bytes): moves pages that are not there yet */
    BP_CUDA_SYNC,     /* waits for the device */
    BP_CUDA_LAUNCH,   /* from here on: something comes to the device */
    BP_CUDA_GRAPH,    /* of one call many records */
    BP_CUDA_MEMSET,
    BP_CUDA_COPY, /* waits for the device, too */
    BP_CUDA_COPY_ASYNC,
    BP_CUDA_COPY_KIND, /* (target, source, bytes, cudaMemcpyKind) */
    BP_CUDA_COPY_KIND_ASYNC,
    BP_CUDA_COPY_H2D, /* (target, source, bytes) */
    BP_CUDA_COPY_H2D_ASYNC,
    BP_CUDA_COPY_D2H,
    BP_CUDA_COPY_D2H_ASYNC,
};

/* For bp_source.match: the class of a function, by its name without version suffixes; -1: none. */
int bp_cuda_match(const char *name, const char **known);

static inline int bp_cuda_submits(unsigned class) {
    return class >= BP_CUDA_LAUNCH;
}

static inline int bp_cuda_is_copy(unsigned class) {
    return class >= BP_CUDA_COPY;
}

/* The call returns when the device has done what was asked for before. */
static inline int bp_cuda_blocks(unsigned class) {
    return class == BP_CUDA_SYNC || class == BP_CUDA_COPY || class == BP_CUDA_COPY_KIND ||
           class == BP_CUDA_COPY_H2D || class == BP_CUDA_COPY_D2H;
}

/* The host's side of a copy, where the arguments tell it. */
struct bp_cuda_copy {
    uint64_t host;
    uint64_t bytes;
    int direction; /* enum bp_direction, -1: not known */
};
struct bp_cuda_copy bp_cuda_copy_of(unsigned class, const struct bp_registers *arguments);

#endif
