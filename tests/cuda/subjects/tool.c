/* SPDX-License-Identifier: MIT
 *
 * cuda_tool before|after LIBCUPTI: a program that counts its copies with CUPTI, from the beginning
 * or from the middle on. It frees every buffer that it is handed, as NVIDIA's examples do, and
 * prints what it has seen.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER 65536
#define SIZE (1u << 20)
#define ROUNDS 100
#define TO_DEVICE 1
#define MEMCPY 1u /* CUPTI_ACTIVITY_KIND_MEMCPY */
#define FORCED 1u

int cudaMalloc(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);
int cudaDeviceSynchronize(void);

typedef void requested_fn(uint8_t **, size_t *, size_t *);
typedef void completed_fn(void *, uint32_t, uint8_t *, size_t, size_t);

static struct {
    int (*register_callbacks)(requested_fn *, completed_fn *);
    int (*enable)(uint32_t);
    int (*flush)(uint32_t);
    int (*next)(uint8_t *, size_t, void **);
} cupti;

static unsigned copies, others, errors;

static void requested(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = malloc(BUFFER);
    *size = BUFFER;
    *records = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    void *record = NULL;
    (void)context, (void)stream, (void)size;
    while (valid && cupti.next(buffer, valid, &record) == 0)
        ++*(*(uint32_t *)record == MEMCPY ? &copies : &others);
    free(buffer);
}

static void work(void) {
    static char host[SIZE];
    static void *device;
    if (!device)
        errors += cudaMalloc(&device, SIZE) != 0;
    for (int i = 0; i < ROUNDS; i++)
        errors += cudaMemcpy(device, host, SIZE, TO_DEVICE) != 0;
    errors += cudaDeviceSynchronize() != 0;
}

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (!library)
        return 2;
    *(void **)&cupti.register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&cupti.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&cupti.flush = dlsym(library, "cuptiActivityFlushAll");
    *(void **)&cupti.next = dlsym(library, "cuptiActivityGetNextRecord");
    if (strcmp(argv[1], "after") == 0)
        work();
    errors += cupti.enable(MEMCPY) != 0;
    errors += cupti.register_callbacks(requested, completed) != 0;
    work();
    errors += cupti.flush(FORCED) != 0;
    printf("%u copies, %u other records, %u errors\n", copies, others, errors);
    return 0;
}
