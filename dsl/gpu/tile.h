/* SPDX-License-Identifier: MIT
 *
 * What the device computes: one operation on one grid, cell by cell, the same source for the CUDA
 * kernel (kernels.cu) and for the processor. The first seven are the turns of dsl/mirror.c.
 */
#pragma once

#include "dsl/value.h"

#ifdef __CUDACC__
#    define DSL_BOTH __host__ __device__
#else
#    define DSL_BOTH
#endif

/* The source of a result's cell is (i0 + ii·i + ij·j, j0 + ji·i + jj·j); a negative direction
 * begins at the source's last line. */
DSL_BOTH static inline void tile_cell(const struct task_grid *in, struct task_grid *out,
                                      struct dsl_gpu_op op, int cell) {
    const int way[DSL_GPU_TURNS][4] = {{-1, 0, 0, 1}, {1, 0, 0, -1},  {0, 1, 1, 0}, {0, -1, -1, 0},
                                       {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0}};
    const int turns = op.kind < DSL_GPU_TURNS;
    const int swap = turns && way[op.kind][0] == 0;
    const int height = swap ? in->width : in->height, width = swap ? in->height : in->width;
    if (cell == 0) {
        out->height = (uint8_t)height;
        out->width = (uint8_t)width;
    }
    if (cell >= height * width)
        return;
    if (!turns) {
        int colour = in->cell[cell], other = op.kind == DSL_GPU_SWITCH && colour == op.b;
        out->cell[cell] = (uint8_t)(colour == op.a ? op.b : other ? op.a : colour);
        return;
    }
    const int *w = way[op.kind], i = cell / width, j = cell % width;
    int from_i = w[0] * i + w[1] * j + (w[0] + w[1] < 0 ? in->height - 1 : 0);
    int from_j = w[2] * i + w[3] * j + (w[2] + w[3] < 0 ? in->width - 1 : 0);
    out->cell[cell] = in->cell[from_i * in->width + from_j];
}
