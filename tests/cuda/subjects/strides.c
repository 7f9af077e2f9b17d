/* SPDX-License-Identifier: MIT
 *
 * Feeds buffers made by hand to the cuptiActivityGetNextRecord of a real libcupti, which works
 * without a driver, and prints "kind size stride" for each kind: the size that the stand-in (and so
 * every test of the collector) has, and where the real one finds the next record.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda/sim/cupti_records.h"

#define RECORDS 5

static const struct {
    uint32_t kind;
    size_t size;
} kinds[] = {
#define X(kind, type, size11, size12, size13) {kind, size13},
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
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 77;
    int (*next)(unsigned char *, size_t, void **) =
        (int (*)(unsigned char *, size_t, void **))dlsym(library, "cuptiActivityGetNextRecord");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        void *record = NULL;
        long stride = 0, count = 0;
        fill(kinds[i].kind, kinds[i].size);
        for (unsigned char *last = NULL; next(buffer, RECORDS * kinds[i].size, &record) == 0;
             last = record) {
            stride = last ? (unsigned char *)record - last : 0;
            count++;
        }
        printf("%u %zu %ld %ld\n", kinds[i].kind, kinds[i].size, stride, count);
    }
    return 0;
}
