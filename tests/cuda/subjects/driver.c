/* SPDX-License-Identifier: MIT
 *
 * Copies by driver functions that are found at run time, as a statically linked runtime does: some
 * by dlsym, some by cuGetProcAddress, which is itself found by dlsym.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/copy.h"

#define BYTES (8u << 20)
#define ROUNDS 5

static void *driver;
static int (*get_address)(const char *, void **, int, uint64_t, int *);

static void *find(const char *name) {
    void *function = NULL;
    int status;
    if (get_address(name, &function, 12000, 0, &status) != 0)
        printf("%s: not found\n", name);
    return function;
}

/* Copies that are told by structures, and by addresses alone. */
static int copy_shapes(char *host, void *device) {
    int (*copy_2d)(const struct bp_cuda_2d *) =
        (int (*)(const struct bp_cuda_2d *))find("cuMemcpy2D");
    int (*copy_3d)(const struct bp_cuda_driver_3d *) =
        (int (*)(const struct bp_cuda_driver_3d *))find("cuMemcpy3D");
    int (*copy)(void *, const void *, size_t) =
        (int (*)(void *, const void *, size_t))find("cuMemcpy");
    struct bp_cuda_2d flat = {
        .source = {.type = BP_CUDA_HOST, .host = (uint64_t)host, .pitch = 4096},
        .target = {.type = BP_CUDA_DEVICE, .device = (uint64_t)device, .pitch = 4096},
        .width = 4000,
        .height = 100};
    struct bp_cuda_driver_3d deep = {
        .source = {.type = BP_CUDA_DEVICE, .device = (uint64_t)device, .pitch = 4096, .height = 20},
        .target = {.type = BP_CUDA_HOST, .host = (uint64_t)host, .pitch = 4096, .height = 20},
        .width = 3000,
        .height = 10,
        .depth = 5};
    return copy_2d(&flat) + copy_3d(&deep) + copy(device, host, 7000) + copy(host, device, 6000);
}

int main(int argc, char **argv) {
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return 77;
    get_address =
        (int (*)(const char *, void **, int, uint64_t, int *))dlsym(driver, "cuGetProcAddress_v2");
    int (*start)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*allocate)(void **, size_t) = (int (*)(void **, size_t))find("cuMemAlloc");
    int (*up)(void *, const void *, size_t) =
        (int (*)(void *, const void *, size_t))dlsym(driver, "cuMemcpyHtoD_v2");
    int (*down)(void *, const void *, size_t) =
        (int (*)(void *, const void *, size_t))find("cuMemcpyDtoH");
    int (*synchronize)(void) = (int (*)(void))find("cuCtxSynchronize");
    char *host = calloc(1, BYTES);
    void *device = NULL;
    int errors = start(0) + allocate(&device, BYTES);
    for (int i = 0; i < ROUNDS; i++)
        errors += up(device, host, BYTES) + down(host, device, BYTES) + synchronize();
    if (argc > 1 && argv[1][0] == 's')
        errors += copy_shapes(host, device);
    printf("errors %d\n", errors);
    free(host);
    return errors != 0;
}
