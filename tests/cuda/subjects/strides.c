/* SPDX-License-Identifier: MIT
 *
 * Feeds buffers made by hand to the cuptiActivityGetNextRecord of a real libcupti, which works
 * without a driver, and prints "kind size stride" for each kind: the size that the simulated device
 * (and so every test of the collector) has, and where the real one finds the next record.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/cupti/records.h"

#define RECORDS 5

static const struct {
    uint32_t kind;
    size_t size[3]; /* in CUDA 11, 12, 13 */
} kinds[] = {
#define X(kind, type, size11, size12, size13) {kind, {size11, size12, size13}},
    BP_CUPTI_SIZES(X)
#undef X
};

static unsigned char buffer[RECORDS * 512] __attribute__((aligned(8)));

static void fill(uint32_t kind, size_t size) {
    memset(buffer, 0, sizeof buffer);
    for (int i = 0; i < RECORDS; i++)
        memcpy(buffer + (size_t)i * size, &kind, sizeof kind);
}

int main(int argc, char **argv) {
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int generation = argc > 2 ? atoi(argv[2]) : 0;
    if (!library || generation < 11 || generation > 13)
        return 77;
    int (*next)(unsigned char *, size_t, void **) =
        (int (*)(unsigned char *, size_t, void **))dlsym(library, "cuptiActivityGetNextRecord");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        void *record = NULL;
        long stride = 0, count = 0;
        size_t size = kinds[i].size[generation - 11];
        fill(kinds[i].kind, size);
        for (unsigned char *last = NULL; next(buffer, RECORDS * size, &record) == 0;
             last = record) {
            stride = last ? (unsigned char *)record - last : 0;
            count++;
        }
        printf("%u %zu %ld %ld\n", kinds[i].kind, size, stride, count);
    }
    return 0;
}
