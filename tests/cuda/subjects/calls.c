/* SPDX-License-Identifier: MIT
 *
 * What an intercepted CUDA call costs: nanoseconds per call of a function of libcudart that does
 * next to nothing, of one of a hooked library, of one that brings something to the device, and of a
 * copy; the best of some rounds, to the file "costs". With the argument "records" the program has
 * CUPTI record by itself what the collector would: what is left is the collector's own cost.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/subjects/kernels.h"

#define CALLS 20000
#define ROUNDS 25
#define BUFFER (1u << 20)

int cudaStreamQuery(struct bp_sim_stream *stream);
int cudaMemset(void *target, int value, size_t size);
int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind,
                    struct bp_sim_stream *stream);
int cudaMalloc(void **memory, size_t size);
int cudaMallocHost(void **memory, size_t size);
int cudaDeviceSynchronize(void);

static void *memory, *pinned;

/* What the thread spent ready to run, without a CPU: a round is longer than the scheduler lets it
 * run where others want to. */
static double queued_ns(void) {
    static int file = -1;
    char text[64] = "";
    double ran, queued = 0;
    if (file < 0)
        file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (pread(file, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%lf %lf", &ran, &queued);
    return queued;
}

static double now_ns(void) {
    struct timespec time;
    double queued = queued_ns();
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec - queued;
}

static double query(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        cudaStreamQuery(NULL);
    return (now_ns() - begin) / CALLS;
}

static double set(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS / 10; i++)
        cudaMemset(memory, 0, 64);
    double took = now_ns() - begin;
    cudaDeviceSynchronize();
    return took / (CALLS / 10);
}

static double copy(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS / 10; i++)
        cudaMemcpyAsync(memory, pinned, 64, 1, NULL);
    double took = now_ns() - begin;
    cudaDeviceSynchronize();
    return took / (CALLS / 10);
}

static void requested(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = malloc(BUFFER);
    *size = BUFFER;
    *records = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size, (void)valid;
    free(buffer);
}

static void record(void) {
    static const uint32_t kinds[] = {1, 39, 5, 4, 22, 2, 10, 38, 17, 49};
    void *cupti = dlopen("libcupti.so.12", RTLD_NOW);
    if (!cupti)
        exit(1);
    int (*callbacks)(void (*)(uint8_t **, size_t *, size_t *),
                     void (*)(void *, uint32_t, uint8_t *, size_t, size_t)) =
        (void *)dlsym(cupti, "cuptiActivityRegisterCallbacks");
    int (*enable)(uint32_t) = (void *)dlsym(cupti, "cuptiActivityEnable");
    callbacks(requested, completed);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        enable(kinds[i]);
}

static double native(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        kernel_stub(1);
    return (now_ns() - begin) / CALLS;
}

int main(int argc, char **argv) {
    double best[4] = {1e9, 1e9, 1e9, 1e9};
    if (argc > 1 && argv[1][0] == 'r')
        record();
    if (cudaMalloc(&memory, 64) != 0 || cudaMallocHost(&pinned, 64) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        double took[] = {query(), native(), set(), copy()};
        for (int k = 0; k < 4; k++)
            best[k] = took[k] < best[k] ? took[k] : best[k];
    }
    FILE *file = fopen("costs", "w");
    if (!file)
        return 1;
    fprintf(file, "%.2f %.2f %.2f %.2f\n", best[0], best[1], best[2], best[3]);
    fclose(file);
    return 0;
}
