// SPDX-License-Identifier: MIT
//
// The device code for real GPUs, built into libdslgpu.so where nvcc is installed. One block per grid,
// one thread per cell.
#include "dsl/gpu/tile.h"

#define CELLS (DSL_ARC_SIDE * DSL_ARC_SIDE)

__global__ void dsl_grids(const struct task_grid *in, struct task_grid *out, struct dsl_gpu_op op) {
    for (int cell = (int)threadIdx.x; cell < CELLS; cell += (int)blockDim.x)
        tile_cell(&in[blockIdx.x], &out[blockIdx.x], op, cell);
}

// The address to give to cudaLaunchKernel.
extern "C" __attribute__((visibility("default"))) const void *dsl_gpu_kernel(void) {
    return (const void *)dsl_grids;
}
