/* SPDX-License-Identifier: MIT
 *
 * The CUDA calls that are intercepted and what they do, from runtime_api.def and driver_api.def.
 */
#ifndef BP_CUDA_API_H
#define BP_CUDA_API_H

#include <stdint.h>

/* How a copy is recognised, by what its arguments are; copy.c knows where they stand. */
#define BP_CUDA_SHAPES(X)                                                                          \
    X(KIND)                                                                                        \
    X(H2D)                                                                                         \
    X(D2H)                                                                                         \
    X(D2D)                                                                                         \
    X(ANY)                                                                                         \
    X(PEER)                                                                                        \
    X(2D)                                                                                          \
    X(TO_SYMBOL)                                                                                   \
    X(FROM_SYMBOL)                                                                                 \
    X(TO_ARRAY)                                                                                    \
    X(FROM_ARRAY)                                                                                  \
    X(TO_ARRAY_2D)                                                                                 \
    X(FROM_ARRAY_2D)                                                                               \
    X(TO_ARRAY_DRIVER)                                                                             \
    X(FROM_ARRAY_DRIVER)                                                                           \
    X(3D)                                                                                          \
    X(DRIVER_2D)                                                                                   \
    X(DRIVER_3D)                                                                                   \
    X(UNKNOWN)

#define BP_CUDA_COPY_CLASSES(shape) BP_CUDA_COPY_##shape, BP_CUDA_COPY_##shape##_ASYNC,
enum bp_cuda_class {
    BP_CUDA_OTHER,
    BP_CUDA_ALLOCATION,
    BP_CUDA_MANAGED,   /* allocation of managed memory, whose pages move by themselves */
    BP_CUDA_MODULE,    /* modules, contexts, graphs: loading, compiling, creating */
    BP_CUDA_CAPTURE,   /* from here on calls of the thread may be recorded into a graph */
    BP_CUDA_CAPTURED,  /* no longer */
    BP_CUDA_PREFETCH,  /* (memory, bytes): moves pages that are not there yet */
    BP_CUDA_SYNC,      /* waits for the device */
    BP_CUDA_LAUNCH,    /* from here on: something comes to the device */
    BP_CUDA_GRAPH,     /* of one call many records */
    BP_CUDA_MEMSET,    /* (memory, value, count) */
    BP_CUDA_MEMSET_2D, /* (memory, pitch, value, width, height) */
    BP_CUDA_MEMSET_3D,
    /* Two of each shape: one that waits for the device, one that does not. */
    BP_CUDA_SHAPES(BP_CUDA_COPY_CLASSES)
};
#undef BP_CUDA_COPY_CLASSES
#define BP_CUDA_FIRST_COPY BP_CUDA_COPY_KIND

/* For bp_source.match: the class of a function, by its name without version suffixes; -1: none. */
int bp_cuda_match(const char *name, const char **known);

static inline int bp_cuda_submits(unsigned class) {
    return class >= BP_CUDA_LAUNCH;
}

static inline int bp_cuda_is_copy(unsigned class) {
    return class >= BP_CUDA_FIRST_COPY;
}

/* The call returns when the device has done what was asked for before. */
static inline int bp_cuda_blocks(unsigned class) {
    return class == BP_CUDA_SYNC ||
           (bp_cuda_is_copy(class) && (class - BP_CUDA_FIRST_COPY) % 2 == 0);
}

#endif
