/* SPDX-License-Identifier: MIT
 *
 * CPU functions for the kernels of vector.cu, by their mangled names; BATTPROF_SIM_KERNELS loads
 * it.
 */
#include "cuda/sim/sim.h"

static void scale(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    float *values = *(float **)args[0], factor = *(float *)args[2];
    int n = *(int *)args[1], *calls = bp_sim_symbol("calls");
    (void)grid, (void)block;
    for (int i = 0; i < n; i++)
        values[i] *= factor;
    if (calls)
        ++*calls;
}

static void shift(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], n = *(int *)args[1], *by = bp_sim_symbol("offset_by");
    (void)grid, (void)block;
    for (int i = 0; i < n; i++)
        values[i] += by[i % 4];
}

__attribute__((constructor)) static void add_kernels(void) {
    static const size_t scale_sizes[] = {8, 4, 4, 0}, shift_sizes[] = {8, 4, 0};
    bp_sim_register_kernel("_Z5scalePfif", NULL, scale, scale_sizes, 2000, 10);
    bp_sim_register_kernel("_Z5shiftPii", NULL, shift, shift_sizes, 2000, 10);
}
