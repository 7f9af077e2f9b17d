/* SPDX-License-Identifier: MIT
 *
 * What copies cost on a runtime that takes no time, from several kinds of places, beside a call of
 * a hooked library and a CUDA call that is no copy: nanoseconds of each, the best of many rounds,
 * to the file "costs", a line with the name of each.
 */
#include <stdio.h>
#include <time.h>

#include "tests/cuda/quick/cudart.h"
#include "tests/cuda/subjects/dslnest.h"

#define CALLS 5000
#define ROUNDS 200
#define SIZES 14

static char memory[64];

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double native(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        dsl_nothing(NULL);
    return (now_ns() - begin) / CALLS;
}

static double query(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        cudaStreamQuery(NULL);
    return (now_ns() - begin) / CALLS;
}

static double copy(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        cudaMemcpyAsync(memory, memory, 64, TO_DEVICE, NULL);
    return (now_ns() - begin) / CALLS;
}

static double copy_sizes(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        cudaMemcpyAsync(memory, memory, (size_t)64 << i % SIZES, TO_DEVICE, NULL);
    return (now_ns() - begin) / CALLS;
}

static double copy_pitched(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        cudaMemcpy2DAsync(memory, 9, memory, 10, 8, 8, TO_DEVICE, STREAM);
    return (now_ns() - begin) / CALLS;
}

static __attribute__((noinline)) void upload(void) {
    cudaMemcpyAsync(memory, memory, 64, TO_DEVICE, NULL);
    __asm__ volatile("");
}

/* The stack is the same but for the line. */
static double copy_by_turns(void) {
    double begin = now_ns();
    for (int i = 0; i < CALLS / 3; i++) {
        upload();
        upload();
        upload();
    }
    return (now_ns() - begin) / (CALLS / 3 * 3);
}

/* The volatile depth keeps the calls from becoming a loop. */
static __attribute__((noinline)) double deep(volatile int depth) {
    double took = depth ? deep(depth - 1) : copy();
    return took + 0 * depth;
}

static double deep_10(void) {
    return deep(10);
}

static double deep_20(void) {
    return deep(20);
}

static double nested_1(void) {
    return dsl_call(copy);
}

static double nested_2(void) {
    return dsl_call(nested_1);
}

static const struct {
    const char *name;
    double (*run)(void);
} places[] = {
    {"native", native},         {"call", query},          {"copy", copy},
    {"sizes", copy_sizes},      {"turns", copy_by_turns}, {"nested", nested_1},
    {"nested_twice", nested_2}, {"deep", deep_10},        {"deeper", deep_20},
    {"pitched", copy_pitched},
};
#define PLACES (sizeof places / sizeof *places)

int main(void) {
    double best[PLACES];
    for (int i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < PLACES; k++) {
            double took = places[k].run();
            best[k] = i == 0 || took < best[k] ? took : best[k];
        }
    FILE *file = fopen("costs", "w");
    if (!file)
        return 1;
    for (size_t k = 0; k < PLACES; k++)
        fprintf(file, "%s %.2f\n", places[k].name, best[k]);
    return fclose(file) != 0;
}
