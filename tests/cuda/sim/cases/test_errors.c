/* SPDX-License-Identifier: MIT
 *
 * What CUDA refuses the simulated device refuses, with the same error: copies beyond the end of
 * memory, launches beyond the limits of the device, streams and events of another device.
 */
#include <string.h>

#include "tests/cuda/sim/cuda.h"

#define SIZE ((size_t)1 << 20)

static struct {
    char *pageable, *pinned, *device;
    stream_t stream;
} t;

static void kernel(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    (void)grid, (void)block, (void)args;
}

static void prepare(void) {
    static const size_t sizes[] = {sizeof(int), 0};
    MUST(bp_sim_register_kernel("kernel", (const void *)kernel, kernel, sizes, 1000, 0));
    t.pageable = calloc(1, SIZE);
    MUST(cudaMallocHost((void **)&t.pinned, SIZE));
    MUST(cudaMalloc((void **)&t.device, SIZE));
    MUST(cudaStreamCreate(&t.stream));
}

static void test_memory(void) {
    void *memory;
    CHECK(cudaMemcpy(t.pageable, t.pinned, 16, H2D) == cudaErrorInvalidValue, "no device memory");
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue, "not remembered");
    CHECK(cudaGetLastError() == cudaErrorInvalidValue && !cudaGetLastError(), "not forgotten");
    CHECK(cudaMemcpy(t.device + SIZE - 8, t.pinned, 1 << 16, H2D) == cudaErrorInvalidValue,
          "beyond the end");
    CHECK(cudaMemcpy(t.device + SIZE - 8, t.pinned, 1 << 16, DEFAULT) == cudaErrorInvalidValue,
          "beyond the end");
    CHECK(cudaMemcpy(t.pinned, t.device + SIZE - 8, 1 << 16, D2H) == cudaErrorInvalidValue,
          "from beyond the end");
    CHECK(cudaMemcpy(t.device, t.pinned, SIZE_MAX, H2D) == cudaErrorInvalidValue, "all there is");
    CHECK(cudaMemcpy(NULL, t.device, 16, D2H) == cudaErrorInvalidValue, "to nowhere");
    CHECK(cudaMemcpy(t.device, NULL, 16, H2D) == cudaErrorInvalidValue, "from nowhere");
    MUST(cudaMemcpy(NULL, NULL, 0, H2D));
    CHECK(cudaMemcpy2D(t.device, 16, t.pinned, 64, 32, 4, H2D) == cudaErrorInvalidPitchValue,
          "rows wider than their distance");
    CHECK(cudaMalloc(&memory, (size_t)1 << 40) == cudaErrorMemoryAllocation, "a terabyte");
    CHECK(!strcmp(cudaGetErrorName(2), "cudaErrorMemoryAllocation"), "its name");
    cudaGetLastError();
}

static int launch(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, size_t shared,
                  stream_t stream) {
    int n = 0;
    void *args[] = {&n};
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}

static int launch_together(unsigned blocks) {
    int n = 0;
    void *args[] = {&n};
    struct bp_sim_dim3 grid = {blocks, 1, 1}, block = {256, 1, 1};
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, 0, NULL);
}

static void test_launches(void) {
    const struct bp_sim_dim3 one = {1, 1, 1}, wide = {4096, 1, 1}, deep = {1, 1, 65},
                             tall = {1, 65536, 1};
    CHECK(cudaLaunchKernel(&failures, one, one, NULL, 0, NULL) == cudaErrorInvalidDeviceFunction,
          "an unknown kernel");
    CHECK(launch(one, wide, 0, NULL) == cudaErrorInvalidConfiguration, "too many threads");
    CHECK(launch(one, deep, 0, NULL) == cudaErrorInvalidConfiguration, "65 threads deep");
    CHECK(launch(tall, one, 0, NULL) == cudaErrorInvalidConfiguration, "65536 blocks high");
    CHECK(launch(one, one, 50000, NULL) == cudaErrorInvalidValue,
          "more shared memory than was asked for");
    CHECK(cudaFuncSetAttribute((const void *)kernel, 8, 70000) == cudaErrorInvalidValue,
          "more than there is");
    MUST(cudaFuncSetAttribute((const void *)kernel, 8, 50000));
    MUST(launch(one, one, 50000, NULL));
    MUST(launch_together(160));
    CHECK(launch_together(161) == cudaErrorCooperativeLaunchTooLarge,
          "more blocks than run at a time");
    cudaGetLastError();
}

/* What may have to do with another device than the current one, and what may not. */
static void test_devices(void) {
    const struct bp_sim_dim3 one = {1, 1, 1};
    float ms;
    event_t near, far;
    MUST(cudaEventCreate(&near));
    MUST(cudaSetDevice(1));
    MUST(cudaEventCreate(&far));
    CHECK(launch(one, one, 0, t.stream) == cudaErrorInvalidResourceHandle,
          "a kernel in a stream of another device");
    CHECK(cudaEventRecord(far, t.stream) == cudaErrorInvalidResourceHandle, "an event in one");
    CHECK(cudaEventRecord(near, NULL) == cudaErrorInvalidResourceHandle, "an event of one");
    MUST(cudaMemcpyAsync(t.device, t.pinned, SIZE, H2D, t.stream));
    MUST(cudaEventRecord(near, t.stream));
    MUST(cudaStreamWaitEvent(NULL, near, 0));
    MUST(cudaEventRecord(far, NULL));
    MUST(cudaEventSynchronize(near));
    MUST(cudaEventSynchronize(far));
    CHECK(cudaEventElapsedTime(&ms, near, far) == cudaErrorInvalidResourceHandle,
          "events of two devices");
    MUST(cudaEventDestroy(far));
    MUST(cudaSetDevice(0));
    MUST(cudaEventDestroy(near));
    cudaGetLastError();
}

int main(void) {
    prepare();
    test_memory();
    test_launches();
    test_devices();
    CHECK(cudaFree(t.pageable) == cudaErrorInvalidValue, "not CUDA's memory");
    printf("%d failures\n", failures);
    return failures != 0;
}
