/* SPDX-License-Identifier: MIT
 *
 * libdslbench.so: named so that battprof hooks it without being asked.
 */
#include "tests/bench/functions.h"

#define DEFINE(name)                                                                               \
    long name(long x) {                                                                            \
        return x + 1;                                                                              \
    }
BENCH_FUNCTIONS(DEFINE)

__attribute__((noinline)) long dsl_inner(long x) {
    return x + 1;
}

__attribute__((noinline)) long dsl_middle(long x) {
    return dsl_inner(x) + 1;
}

__attribute__((noinline)) long dsl_outer(long x) {
    return dsl_middle(x) + 1;
}
