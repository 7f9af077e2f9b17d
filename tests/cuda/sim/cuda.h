/* SPDX-License-Identifier: MIT
 *
 * The CUDA runtime as the tests of the simulated device call it: declared by hand, so that they
 * build without a toolkit; and a check that goes on after a failure.
 */
#ifndef BP_TESTS_SIM_CUDA_H
#define BP_TESTS_SIM_CUDA_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/sim/sim.h"

enum { H2H, H2D, D2H, D2D, DEFAULT };

typedef struct bp_sim_stream *stream_t;
typedef struct bp_sim_event *event_t;
typedef struct bp_sim_graph *graph_t;

int cudaMalloc(void **memory, size_t size);
int cudaFree(void *memory);
int cudaMallocAsync(void **memory, size_t size, stream_t stream);
int cudaFreeAsync(void *memory, stream_t stream);
int cudaMallocHost(void **memory, size_t size);
int cudaFreeHost(void *memory);
int cudaHostRegister(void *memory, size_t size, unsigned flags);
int cudaHostUnregister(void *memory);
int cudaMallocManaged(void **memory, size_t size, unsigned flags);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);
int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind, stream_t stream);
int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                 size_t width, size_t height, int kind);
int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t width, size_t height, int kind, stream_t stream);
struct bp_cuda_3d;
int cudaMemcpy3D(const struct bp_cuda_3d *parameters);
int cudaMemcpyToSymbol(const void *symbol, const void *source, size_t size, size_t offset,
                       int kind);
int cudaMemcpyFromSymbol(void *target, const void *symbol, size_t size, size_t offset, int kind);
int cudaMemcpyPeer(void *target, int to, const void *source, int from, size_t size);
int cudaMemset(void *target, int value, size_t size);
int cudaLaunchKernel(const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                     void **args, size_t shared, stream_t stream);
int cudaLaunchCooperativeKernel(const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                                void **args, size_t shared, stream_t stream);
int cudaFuncSetAttribute(const void *stub, int attribute, int value);
int cudaStreamCreate(stream_t *stream);
int cudaStreamCreateWithFlags(stream_t *stream, unsigned flags);
int cudaStreamDestroy(stream_t stream);
int cudaStreamSynchronize(stream_t stream);
int cudaStreamQuery(stream_t stream);
int cudaStreamWaitEvent(stream_t stream, event_t event, unsigned flags);
int cudaStreamBeginCapture(stream_t stream, int mode);
int cudaStreamEndCapture(stream_t stream, graph_t *graph);
int cudaGraphInstantiate(graph_t *executable, graph_t graph, unsigned long long flags);
int cudaGraphLaunch(graph_t executable, stream_t stream);
int cudaGraphDestroy(graph_t graph);
int cudaGraphExecDestroy(graph_t executable);
int cudaLaunchHostFunc(stream_t stream, void (*function)(void *), void *data);
int cudaEventCreate(event_t *event);
int cudaEventDestroy(event_t event);
int cudaEventRecord(event_t event, stream_t stream);
int cudaEventSynchronize(event_t event);
int cudaEventQuery(event_t event);
int cudaEventElapsedTime(float *ms, event_t from, event_t to);
int cudaDeviceSynchronize(void);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaMemGetInfo(size_t *unused, size_t *total);
int cudaRuntimeGetVersion(int *version);
const char *cudaGetErrorName(int error);

/* To a device; -1: to the host. */
#if defined BP_SIM_CUDA && BP_SIM_CUDA < 13
int cudaMemPrefetchAsync(const void *memory, size_t size, int device, stream_t stream);
#    define PREFETCH(memory, size, device, stream)                                                 \
        cudaMemPrefetchAsync(memory, size, device, stream)
#else
struct location {
    int type, id; /* 1: a device, 2: the host */
};
int cudaMemPrefetchAsync(const void *memory, size_t size, struct location to, unsigned flags,
                         stream_t stream);
#    define PREFETCH(memory, size, device, stream)                                                 \
        cudaMemPrefetchAsync(memory, size, (struct location){(device) < 0 ? 2 : 1, (device)}, 0,   \
                             stream)
#endif

static int failures, noise; /* wrong facts, wrong times */

#define CHECK(condition, ...) COUNT_WRONG(failures, condition, __VA_ARGS__)
/* For times, which other work on the machine may spoil. */
#define CHECK_TIME(condition, ...) COUNT_WRONG(noise, condition, __VA_ARGS__)
#define COUNT_WRONG(count, condition, ...)                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                 \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            (count)++;                                                                             \
        }                                                                                          \
    } while (0)
#define MUST(call)                                                                                 \
    do {                                                                                           \
        int error_ = (call);                                                                       \
        CHECK(error_ == 0, "error %d", error_);                                                    \
    } while (0)

/* The exit status: 1 for a wrong fact, 3 for wrong times alone, as in tests/harness/__init__.py. */
static inline int finish(void) {
    printf("%d failures, %d wrong times\n", failures, noise);
    return failures ? 1 : noise ? 3 : 0;
}

static inline double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

#endif
