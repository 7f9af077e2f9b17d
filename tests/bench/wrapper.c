/* SPDX-License-Identifier: MIT
 *
 * What one would write by hand: a preloaded wrapper for each function that reads the TSC before and
 * after the call and adds count and ticks to memory of the thread. The cheapest that exact times
 * can cost; it knows no callers, no self times, no extremes and no distribution.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>

#include "tests/bench/functions.h"

struct sum {
    uint64_t calls;
    uint64_t ticks;
};

#define MEMBER(name) struct sum name;
static __thread struct {
    BENCH_FUNCTIONS(MEMBER)
    BENCH_NESTED(MEMBER)
} sums __attribute__((tls_model("initial-exec")));

#define POINTER(name) long (*name)(long);
static struct {
    BENCH_FUNCTIONS(POINTER)
    BENCH_NESTED(POINTER)
} real;

#define RESOLVE(name) real.name = (long (*)(long))dlsym(RTLD_NEXT, #name);
__attribute__((constructor)) static void resolve(void){BENCH_FUNCTIONS(RESOLVE)
                                                           BENCH_NESTED(RESOLVE)}

#define WRAP(name)                                                                                 \
    long name(long x) {                                                                            \
        uint64_t start = __rdtsc();                                                                \
        long result = real.name(x);                                                                \
        sums.name.ticks += __rdtsc() - start;                                                      \
        sums.name.calls++;                                                                         \
        return result;                                                                             \
    }
BENCH_FUNCTIONS(WRAP) BENCH_NESTED(WRAP)
