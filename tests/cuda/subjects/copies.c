/* SPDX-License-Identifier: MIT
 *
 * Copies of every kind on a runtime that takes no time, by several paths, some of which leave the
 * stack as the others do, in two threads.
 */
#include <pthread.h>
#include <stdio.h>

#include "tests/cuda/quick/cudart.h"

#define ROUND_TRIPS 1000
#define GIGABYTE (1ul << 30)

static char memory[64];

static __attribute__((noinline)) int upload(size_t size) {
    int error = cudaMemcpyAsync(memory, memory, size, TO_DEVICE, NULL);
    __asm__ volatile("");
    return error;
}

/* Both calls of upload leave the stack alike. */
static __attribute__((noinline)) int by_two_lines(size_t size) {
    int errors = upload(size);
    errors += upload(2 * size);
    __asm__ volatile("");
    return errors;
}

static __attribute__((noinline)) int by_another(size_t size) {
    int errors = upload(size);
    __asm__ volatile("");
    return errors;
}

/* Copies of one size, so that nothing but the return address tells them apart. */
static __attribute__((noinline)) int by_three_lines(size_t i) {
    int errors = upload(40);
    if (i % 2 == 0)
        errors += upload(40);
    if (i % 5 == 0)
        errors += upload(40);
    __asm__ volatile("");
    return errors;
}

static void *paths(void *unused) {
    int failed = 0;
    for (size_t i = 0; i < ROUND_TRIPS; i++) {
        by_three_lines(i);
        by_two_lines(1000);
        by_another(500);
        cudaMemcpy(memory, memory, 10 + i % 3, TO_HOST); /* 10, 11, 12 bytes */
        cudaMemcpyAsync(memory, memory, 7, i % 2 ? TO_HOST : TO_DEVICE, NULL);
        cudaMemcpy(memory, memory, 5, ON_DEVICE);
        failed += cudaMemcpy(memory, memory, 13, TO_DEVICE);
    }
    for (int i = 0; i < 3; i++)
        cudaMemcpy(memory, memory, 5 * GIGABYTE, TO_DEVICE);
    return failed == ROUND_TRIPS ? unused : memory;
}

int main(void) {
    pthread_t thread;
    void *result = memory;
    if (pthread_create(&thread, NULL, paths, NULL) != 0)
        return 1;
    int wrong = paths(NULL) != NULL;
    pthread_join(thread, &result);
    puts(wrong || result ? "wrong" : "ok");
    return 0;
}
