/* SPDX-License-Identifier: MIT
 *
 * batch_process_samples_gpu: operations on the grids of a task, on the device in one of three ways
 * that differ in what they copy and when. Whatever goes wrong there, the processor does the work
 * and the results are the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/dsl.h"
#include "dsl/gpu/cudart.h"
#include "dsl/gpu/tile.h"

/* Below this a launch costs more than the work. */
#define SMALLEST_BATCH 4
#define THREADS 256

struct dsl_gpu {
    const struct cudart *cuda;
    enum dsl_gpu_mode mode;
    bool failed; /* and not asked again */
    void *stream;
    int room_in, room_out; /* grids */
    struct task_grid *host_in, *host_out, *device_in, *device_out;
};

/* The arguments of batch_process_samples_gpu. */
struct batch {
    const struct task_grid *in;
    int n;
    const struct dsl_gpu_op *op;
    int ops;
    struct task_grid *out;
};

static void say_once(const char *what) {
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "dsl: --gpu: %s; the processor does the work\n", what);
}

struct dsl_gpu *dsl_gpu_new(enum dsl_gpu_mode mode) {
    const char *reason;
    const struct cudart *cuda = cudart_get(&reason);
    struct dsl_gpu *gpu = cuda ? calloc(1, sizeof(*gpu)) : NULL;
    if (!cuda)
        say_once(reason);
    if (!gpu)
        return NULL;
    gpu->cuda = cuda;
    gpu->mode = mode;
    if (cuda->cudaStreamCreate(&gpu->stream)) {
        say_once("the device makes no stream");
        free(gpu);
        return NULL;
    }
    return gpu;
}

static void give_back(struct dsl_gpu *gpu) {
    gpu->cuda->cudaFreeHost(gpu->host_in);
    gpu->cuda->cudaFreeHost(gpu->host_out);
    gpu->cuda->cudaFree(gpu->device_in);
    gpu->cuda->cudaFree(gpu->device_out);
    gpu->host_in = gpu->host_out = gpu->device_in = gpu->device_out = NULL;
    gpu->room_in = gpu->room_out = 0;
}

void dsl_gpu_free(struct dsl_gpu *gpu) {
    if (!gpu)
        return;
    give_back(gpu);
    gpu->cuda->cudaStreamDestroy(gpu->stream);
    free(gpu);
}

/* Pinned on the host's side, or copies could not overlap with anything. */
static int make_room(struct dsl_gpu *gpu, int in, int out) {
    if (in <= gpu->room_in && out <= gpu->room_out)
        return 0;
    size_t bytes_in = (size_t)in * sizeof(*gpu->host_in);
    size_t bytes_out = (size_t)out * sizeof(*gpu->host_in);
    give_back(gpu);
    int error = gpu->cuda->cudaMallocHost((void **)&gpu->host_in, bytes_in);
    error = error ? error : gpu->cuda->cudaMallocHost((void **)&gpu->host_out, bytes_out);
    error = error ? error : gpu->cuda->cudaMalloc((void **)&gpu->device_in, bytes_in);
    error = error ? error : gpu->cuda->cudaMalloc((void **)&gpu->device_out, bytes_out);
    if (!error) {
        gpu->room_in = in;
        gpu->room_out = out;
    }
    return error;
}

static int launch(struct dsl_gpu *gpu, const struct task_grid *in, struct task_grid *out, int n,
                  struct dsl_gpu_op op, void *stream) {
    void *args[] = {(void *)&in, (void *)&out, &op};
    struct dim3 grid = {(unsigned)n, 1, 1}, block = {THREADS, 1, 1};
    return gpu->cuda->cudaLaunchKernel(gpu->cuda->kernel, grid, block, args, 0, stream);
}

/* One grid through one operation, with memory of its own and both copies. */
static int run_alone(struct dsl_gpu *gpu, const struct task_grid *in, struct dsl_gpu_op op,
                     struct task_grid *out) {
    const struct cudart *cuda = gpu->cuda;
    struct task_grid *device[2] = {NULL, NULL};
    int error = cuda->cudaMalloc((void **)&device[0], sizeof(*in));
    error = error ? error : cuda->cudaMalloc((void **)&device[1], sizeof(*in));
    error = error ? error : cuda->cudaMemcpy(device[0], in, sizeof(*in), COPY_UP);
    error = error ? error : launch(gpu, device[0], device[1], 1, op, NULL);
    error = error ? error : cuda->cudaMemcpy(out, device[1], sizeof(*out), COPY_DOWN);
    cuda->cudaFree(device[0]);
    cuda->cudaFree(device[1]);
    return error;
}

static int run_naive(struct dsl_gpu *gpu, const struct batch *batch) {
    int error = 0;
    for (int k = 0; k < batch->ops; k++)
        for (int s = 0; s < batch->n && !error; s++)
            error = run_alone(gpu, &batch->in[s], batch->op[k], &batch->out[k * batch->n + s]);
    return error;
}

/* Each operation is a batch: all grids up, one kernel, all results down. */
static int run_batches(struct dsl_gpu *gpu, const struct batch *batch) {
    const struct cudart *cuda = gpu->cuda;
    size_t bytes = (size_t)batch->n * sizeof(*batch->in);
    int error = make_room(gpu, batch->n, batch->n);
    for (int k = 0; k < batch->ops && !error; k++) {
        memcpy(gpu->host_in, batch->in, bytes);
        error = cuda->cudaMemcpyAsync(gpu->device_in, gpu->host_in, bytes, COPY_UP, gpu->stream);
        error = error ? error
                      : launch(gpu, gpu->device_in, gpu->device_out, batch->n, batch->op[k],
                               gpu->stream);
        error = error ? error
                      : cuda->cudaMemcpyAsync(gpu->host_out, gpu->device_out, bytes, COPY_DOWN,
                                              gpu->stream);
        error = error ? error : cuda->cudaStreamSynchronize(gpu->stream);
        if (!error)
            memcpy(&batch->out[k * batch->n], gpu->host_out, bytes);
    }
    return error;
}

/* The grids go up once, the results of all operations come down together. */
static int run_resident(struct dsl_gpu *gpu, const struct batch *batch) {
    const struct cudart *cuda = gpu->cuda;
    size_t bytes = (size_t)batch->n * sizeof(*batch->in), all = bytes * (size_t)batch->ops;
    int error = make_room(gpu, batch->n, batch->n * batch->ops);
    if (error)
        return error;
    memcpy(gpu->host_in, batch->in, bytes);
    error = cuda->cudaMemcpyAsync(gpu->device_in, gpu->host_in, bytes, COPY_UP, gpu->stream);
    for (int k = 0; k < batch->ops && !error; k++)
        error = launch(gpu, gpu->device_in, &gpu->device_out[k * batch->n], batch->n, batch->op[k],
                       gpu->stream);
    error =
        error ? error
              : cuda->cudaMemcpyAsync(gpu->host_out, gpu->device_out, all, COPY_DOWN, gpu->stream);
    error = error ? error : cuda->cudaStreamSynchronize(gpu->stream);
    if (!error)
        memcpy(batch->out, gpu->host_out, all);
    return error;
}

static void run_on_processor(const struct batch *batch) {
    for (int k = 0; k < batch->ops; k++) {
        struct dsl_gpu_op op = batch->op[k];
        const struct task_grid *in = batch->in;
        struct task_grid *out = &batch->out[k * batch->n];
        void *args[] = {(void *)&in, (void *)&out, &op};
        cudart_run_grids((struct dim3){(unsigned)batch->n, 1, 1}, (struct dim3){1, 1, 1}, args);
    }
}

void batch_process_samples_gpu(struct dsl_gpu *gpu, const struct task_grid *in, int n,
                               const struct dsl_gpu_op *op, int ops, struct task_grid *out) {
    static int (*const ways[])(struct dsl_gpu *,
                               const struct batch *) = {[DSL_GPU_BATCH] = run_batches,
                                                        [DSL_GPU_NAIVE] = run_naive,
                                                        [DSL_GPU_RESIDENT] = run_resident};
    struct batch batch = {in, n, op, ops, out};
    if (gpu && !gpu->failed && n >= SMALLEST_BATCH) {
        gpu->failed = ways[gpu->mode](gpu, &batch) != 0;
        if (!gpu->failed)
            return;
        say_once("the device failed");
    }
    run_on_processor(&batch);
}
