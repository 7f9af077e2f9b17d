/* SPDX-License-Identifier: MIT
 *
 * What the files of the simulated libcudart share. BP_SIM_CUDA is the generation: 11, 12 or 13.
 * Structures are those of the runtime's ABI, in names of our own.
 */
#ifndef BP_CUDA_SIM_RUNTIME_RUNTIME_H
#define BP_CUDA_SIM_RUNTIME_RUNTIME_H

#include "cuda/sim/sim.h"

#ifndef BP_SIM_CUDA
#    define BP_SIM_CUDA 13
#endif

enum {
#define X(name, id, driver) BP_CBID_##name = id, BP_DRIVER_##name = driver,
#include "cuda/sim/runtime/calls.def"
#undef X
};

/* Every exported function is one expression between the two records of its call. */
#define API BP_SIM_EXPORT
#define CALL(name, expression)                                                                     \
    struct bp_sim_call call_;                                                                      \
    bp_sim_enter(&call_, #name, BP_CBID_##name, BP_DRIVER_##name);                                 \
    return bp_sim_leave(&call_, (expression))

/* A function with a stream comes in two: for programs compiled with per-thread default streams the
 * headers put a suffix to its name. In the expression STREAM(s) is the stream meant. */
#define STREAM(stream) (ptds_ && !(stream) ? BP_SIM_PER_THREAD : (stream))
#define CALL2(name, suffix, parameters, expression)                                                \
    API int name parameters {                                                                      \
        const bool ptds_ = false;                                                                  \
        (void)ptds_;                                                                               \
        CALL(name, expression);                                                                    \
    }                                                                                              \
    API int name##suffix parameters {                                                              \
        const bool ptds_ = true;                                                                   \
        (void)ptds_;                                                                               \
        CALL(name##suffix, expression);                                                            \
    }

typedef struct bp_sim_stream *bp_stream; /* makes the parameter lists readable */

struct bp_cuda_pitched {
    char *pointer;
    size_t pitch, width, height;
};
struct bp_cuda_size {
    size_t width, height, depth;
};
struct bp_cuda_position {
    size_t x, y, z;
};
struct bp_cuda_copy3d {
    void *source_array;
    struct bp_cuda_position source_position;
    struct bp_cuda_pitched source;
    void *target_array;
    struct bp_cuda_position target_position;
    struct bp_cuda_pitched target;
    struct bp_cuda_size size;
    int kind;
};
/* runtime_copy.c */
struct bp_sim_copy;
int bp_sim_copy_of_3d(struct bp_sim_copy *copy, const struct bp_cuda_copy3d *parameters);

/* runtime_array.c: where the memory of an array is; its width is that of an element, in bytes. */
struct bp_cuda_pitched bp_sim_array_memory(const void *array);

struct bp_cuda_launch_config {
    struct bp_sim_dim3 grid, block;
    size_t shared;
    bp_stream stream;
    void *attributes;
    unsigned attribute_count;
};

#endif
