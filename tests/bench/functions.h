/* SPDX-License-Identifier: MIT
 *
 * The functions that are called and intercepted while measuring. They do next to nothing: what a
 * call costs beyond the bare one is the interceptor's.
 */
#ifndef BP_BENCH_FUNCTIONS_H
#define BP_BENCH_FUNCTIONS_H

#define BENCH_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
/* X(dsl_00) … X(dsl_77), numbered in octal. */
#define BENCH_FUNCTIONS(X)                                                                         \
    BENCH_8(X, dsl_0)                                                                              \
    BENCH_8(X, dsl_1)                                                                              \
    BENCH_8(X, dsl_2)                                                                              \
    BENCH_8(X, dsl_3)                                                                              \
    BENCH_8(X, dsl_4)                                                                              \
    BENCH_8(X, dsl_5)                                                                              \
    BENCH_8(X, dsl_6)                                                                              \
    BENCH_8(X, dsl_7)

/* dsl_outer calls dsl_middle, which calls dsl_inner, each through the PLT. */
#define BENCH_NESTED(X) X(dsl_outer) X(dsl_middle) X(dsl_inner)

#define BENCH_DECLARE(name) long name(long x);
BENCH_FUNCTIONS(BENCH_DECLARE)
BENCH_NESTED(BENCH_DECLARE)

#endif
