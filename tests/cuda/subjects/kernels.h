/* SPDX-License-Identifier: MIT
 *
 * What the CUDA subjects share with libdslcuda.so: kernels of known length on the simulated device,
 * launched and waited for under functions of the DSL.
 */
#ifndef BP_TESTS_CUDA_KERNELS_H
#define BP_TESTS_CUDA_KERNELS_H

#include <stddef.h>

#include "cuda/sim/sim.h"

/* A kernel of that many milliseconds, 1 to 20 or 400, in front of everything else in the stream. */
int dsl_launch(int ms, struct bp_sim_stream *stream);

/* One of 0.1 ms. */
int dsl_launch_short(struct bp_sim_stream *stream);

/* A kernel of 1 ms that uses that memory. */
int dsl_use(void *memory, struct bp_sim_stream *stream);

/* A blocking copy to the device, within the DSL. */
int dsl_upload(void *target, const void *source, size_t bytes);

/* The same launch, outside of the DSL: in the program itself. */
extern const void *kernel_stub(int ms);

#endif
