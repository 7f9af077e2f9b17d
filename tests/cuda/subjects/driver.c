/* SPDX-License-Identifier: MIT
 *
 * Copies by driver functions that are found at run time, as a statically linked runtime does: some
 * by dlsym, some by cuGetProcAddress, which is itself found by dlsym.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(void) {
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
    printf("errors %d\n", errors);
    free(host);
    return errors != 0;
}
