/* SPDX-License-Identifier: MIT */
#include "tests/cuda/subjects/kernels.h"

#include <stdint.h>

#define LONGEST 20 /* kernels of every length up to that */
#define VERY_LONG 400

int cudaLaunchKernel(const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                     void **args, size_t shared, struct bp_sim_stream *stream);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);

/* Addresses that stand for kernels. */
static char stubs[VERY_LONG + 1], short_stub;

static void nothing(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    (void)grid, (void)block, (void)args;
}

__attribute__((constructor)) static void announce(void) {
    static const char *const names[] = {"wait_0", "wait_1", "wait_2", "wait_3", "wait_4", "wait_5"};
    static const size_t no_sizes[] = {0};
    static const size_t pointer[] = {sizeof(void *), 0};
    bp_sim_register_kernel("use", &stubs[0], nothing, pointer, 1000000, 0);
    bp_sim_register_kernel("short", &short_stub, nothing, no_sizes, 100000, 0);
    for (int i = 1; i <= LONGEST; i++)
        bp_sim_register_kernel(i < 6 ? names[i] : "wait_long", &stubs[i], nothing, no_sizes,
                               (uint64_t)i * 1000000, 0);
    bp_sim_register_kernel("very_long", &stubs[VERY_LONG], nothing, no_sizes,
                           UINT64_C(1000000) * VERY_LONG, 0);
}

__attribute__((visibility("default"))) const void *kernel_stub(int ms) {
    return &stubs[ms];
}

__attribute__((visibility("default"), noinline)) int dsl_launch(int ms,
                                                                struct bp_sim_stream *stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    return cudaLaunchKernel(&stubs[ms], one, one, NULL, 0, stream);
}

__attribute__((visibility("default"), noinline)) int
dsl_launch_short(struct bp_sim_stream *stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    return cudaLaunchKernel(&short_stub, one, one, NULL, 0, stream);
}

__attribute__((visibility("default"), noinline)) int dsl_use(void *memory,
                                                             struct bp_sim_stream *stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    void *args[] = {&memory};
    return cudaLaunchKernel(&stubs[0], one, one, args, 0, stream);
}

__attribute__((visibility("default"), noinline)) int dsl_upload(void *target, const void *source,
                                                                size_t bytes) {
    return cudaMemcpy(target, source, bytes, 1);
}
