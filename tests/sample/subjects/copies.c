/* SPDX-License-Identifier: MIT
 *
 * Copies by two call paths that have the same stack pointer and the same innermost callers, in
 * turns, with registers that change: 3000 by left(), 1000 by right().
 */
#include <stddef.h>

#define COPIES 4000
#define SIZE 64
#define HOST_TO_DEVICE 1

int cudaMalloc(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);

static void *memory;
static char data[SIZE];

static __attribute__((noinline)) int copy(int number) {
    data[number % SIZE]++;
    return cudaMemcpy(memory, data, SIZE, HOST_TO_DEVICE) + 1;
}

static __attribute__((noinline)) int left(int number) {
    return copy(number) * 2;
}

static __attribute__((noinline)) int right(int number) {
    return copy(number) * 3;
}

int main(void) {
    int sum = 0;
    if (cudaMalloc(&memory, SIZE) != 0)
        return 1;
    for (int i = 0; i < COPIES; i++)
        sum += i % 4 == 1 ? right(sum) : left(sum);
    return sum != COPIES / 4 * 9;
}
