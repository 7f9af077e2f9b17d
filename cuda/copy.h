/* SPDX-License-Identifier: MIT
 *
 * What the arguments of a copy tell: its direction, its size, and where the host's side of it is.
 * The structures that some copies take are those of cuda.h and driver_types.h, the same in CUDA 11
 * to 13; a test compares them.
 */
#ifndef BP_CUDA_COPY_H
#define BP_CUDA_COPY_H

#include <stdint.h>

struct bp_registers;

enum {
    BP_COPY_UNTOLD = -1,
    BP_COPY_BY_ADDRESS = -2,
    BP_COPY_ON_HOST = -3 /* no business of a device's */
};

struct bp_cuda_copy {
    uint64_t target, source;
    uint64_t bytes;
    uint64_t width, height, depth; /* height and depth 1 where there are none */
    uint64_t pitch, slice;         /* of the host's side, in bytes; 0 where there is one row */
    int direction;                 /* enum bp_direction, or one of the above */
};

struct bp_cuda_copy bp_cuda_copy_of(unsigned class, const struct bp_registers *arguments);
/* After the call, when the driver can be asked about addresses: BY_ADDRESS becomes a direction. */
void bp_cuda_copy_resolve(struct bp_cuda_copy *copy);
/* The host's side of a copy up or down. */
uint64_t bp_cuda_copy_host(const struct bp_cuda_copy *copy);

struct bp_cuda_place {
    uint64_t x, y, z;
};

/* cudaMemcpy3DParms */
struct bp_cuda_3d {
    uint64_t source_array;
    struct bp_cuda_place source_place;
    uint64_t source, source_pitch, source_width, source_height;
    uint64_t target_array;
    struct bp_cuda_place target_place;
    uint64_t target, target_pitch, target_width, target_height;
    uint64_t width, height, depth;
    uint32_t kind;
};

/* CUmemorytype, and one side of what follows. */
enum { BP_CUDA_HOST = 1, BP_CUDA_DEVICE = 2, BP_CUDA_ARRAY = 3, BP_CUDA_UNIFIED = 4 };

/* CUDA_MEMCPY2D */
struct bp_cuda_2d_side {
    uint64_t x, y;
    uint32_t type, pad;
    uint64_t host, device, array, pitch;
};
struct bp_cuda_2d {
    struct bp_cuda_2d_side source, target;
    uint64_t width, height;
};

/* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which alone has contexts */
struct bp_cuda_3d_side {
    uint64_t x, y, z, level;
    uint32_t type, pad;
    uint64_t host, device, array, context, pitch, height;
};
struct bp_cuda_driver_3d {
    struct bp_cuda_3d_side source, target;
    uint64_t width, height, depth;
};

/* The 3D copy of one slice that a 2D copy is; the simulated device takes it for that, too. */
static inline struct bp_cuda_3d_side bp_cuda_side_widen(const struct bp_cuda_2d_side *side) {
    return (struct bp_cuda_3d_side){.x = side->x,
                                    .y = side->y,
                                    .type = side->type,
                                    .host = side->host,
                                    .device = side->device,
                                    .pitch = side->pitch};
}
static inline struct bp_cuda_driver_3d bp_cuda_copy_widen(const struct bp_cuda_2d *p) {
    return (struct bp_cuda_driver_3d){bp_cuda_side_widen(&p->source),
                                      bp_cuda_side_widen(&p->target), p->width, p->height, 1};
}

#endif
