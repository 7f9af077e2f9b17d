/* SPDX-License-Identifier: MIT
 *
 * Copies by names with suffixes, bound when they are first called: the driver's versions as cuda.h
 * has them, or the runtime's as of nvcc --default-stream per-thread. Prints how many there were of
 * each direction, and their bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BYTES 4096
#define UP 10
#define DOWN 5

int cuInit(unsigned flags);
int cuMemAlloc_v2(uint64_t *memory, size_t size);
int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t size);
int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t size);
int cudaMalloc(void **memory, size_t size);
int cudaMemcpy_ptds(void *target, const void *source, size_t size, int kind);
int cudaMemcpyAsync_ptsz(void *target, const void *source, size_t size, int kind, void *stream);
int cudaStreamSynchronize_ptsz(void *stream);

static char host[BYTES];

static int by_driver(void) {
    uint64_t device = 0;
    int errors = cuInit(0) + cuMemAlloc_v2(&device, BYTES);
    for (int i = 0; i < UP; i++)
        errors += cuMemcpyHtoD_v2(device, host, BYTES);
    for (int i = 0; i < DOWN; i++)
        errors += cuMemcpyDtoH_v2(host, device, BYTES);
    return errors;
}

static int by_runtime(void) {
    void *device = NULL;
    int errors = cudaMalloc(&device, BYTES);
    for (int i = 0; i < UP; i++)
        errors += cudaMemcpyAsync_ptsz(device, host, BYTES, 1, NULL);
    errors += cudaStreamSynchronize_ptsz(NULL);
    for (int i = 0; i < DOWN; i++)
        errors += cudaMemcpy_ptds(host, device, BYTES, 2);
    return errors;
}

int main(int argc, char **argv) {
    int errors = argc > 1 && strcmp(argv[1], "driver") == 0 ? by_driver() : by_runtime();
    printf("%d %d %d\n", UP, DOWN, BYTES);
    return errors != 0;
}
