/* SPDX-License-Identifier: MIT
 *
 * The CUDA runtime by dlopen: nothing to link with, and machines without it are fine.
 */
#pragma once

#include <stddef.h>

struct dim3 {
    unsigned x, y, z;
};
enum { COPY_UP = 1, COPY_DOWN = 2 }; /* cudaMemcpyKind */

struct cudart {
#define CUDART(name, parameters) int(*name) parameters;
#include "dsl/gpu/cudart.def"
#undef CUDART
    const void *kernel; /* what cudaLaunchKernel takes for dsl_grids */
};

/* The runtime with a device and our kernel, or NULL: the reason then stands in *reason. Looked for
 * once; any thread. */
const struct cudart *cudart_get(const char **reason);

/* The processor's version of the kernel dsl_grids; also what the simulated device runs. */
void cudart_run_grids(struct dim3 grid, struct dim3 block, void **args);
