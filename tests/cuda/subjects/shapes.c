/* SPDX-License-Identifier: MIT
 *
 * Copies whose size is not their third argument, on a runtime that takes no time and refuses calls
 * that have lost an argument.
 */
#include <stdio.h>

#include "tests/cuda/quick/cudart.h"

#define ROUNDS 3000

static char memory[64];

/* Copies in two directions, of two powers of two, and some that are none or not counted. */
static int pitched(size_t i) {
    int kind = i % 3 ? TO_DEVICE : TO_HOST;
    size_t height = 10 + i % 10;
    int errors = cudaMemcpy2D(memory, 101, memory, 102, 100, height, kind);
    errors += cudaMemcpy2DAsync(memory, 9, memory, 10, 8, 2, TO_DEVICE, STREAM);
    errors += cudaMemcpy2D(memory, 9, memory, 10, 8, 0, TO_DEVICE);
    errors += cudaMemcpy2D(memory, 1001, memory, 1002, 1000, (size_t)1 << 20, TO_DEVICE);
    errors += cudaMemcpy2D(memory, 9, memory, 11, 8, 1, TO_DEVICE) == 0; /* fails */
    return errors;
}

static int others(void) {
    int errors = cudaMemcpyToSymbol(memory, memory, 21, 3, TO_DEVICE);
    errors += cudaMemcpyFromSymbolAsync(memory, memory, 22, 3, TO_HOST, STREAM);
    errors += cudaMemcpyPeerAsync(memory, 5, memory, 6, 23, STREAM);
    errors += cudaMemcpyToArray(memory, 3, 4, memory, 24, TO_DEVICE);
    errors += cudaMemcpy2DFromArrayAsync(memory, 6, memory, 3, 4, 5, 5, TO_HOST, STREAM);
    return errors;
}

int main(void) {
    int errors = 0;
    for (size_t i = 0; i < ROUNDS; i++)
        errors += pitched(i) + others();
    puts(errors ? "an argument was lost" : "ok");
    return 0;
}
