/* SPDX-License-Identifier: MIT
 *
 * The solver language: one call per line, as in `x1 = o_g(I, R5)`. I is the input grid, x1…x60 are
 * variables assigned once, O is the output and comes last. Arguments are variables, integers,
 * constants (R0…R7, T, F, UP, DOWN, LEFT, RIGHT, ORIGIN, UNITY, …) and names of DSL functions.
 */
#pragma once

#include "dsl/dsl.h"

struct program;

enum program_status {
    PROGRAM_DONE,
    PROGRAM_FAILED,
    PROGRAM_TIMED_OUT,
};

/* NULL when the text is wrong: error then says in which line and why. */
struct program *program_new(const char *text, char *error, size_t room);
void program_free(struct program *program);

/* deadline: CLOCK_MONOTONIC nanoseconds, looked at between steps. output is in the arena. */
enum program_status program_run(const struct program *program, struct dsl_arena *arena,
                                const struct dsl_grid *input, int64_t deadline,
                                const struct dsl_grid **output);

/* The function's name if the program is `O = f(I, …)` with further integers, up to two, which are
 * stored; else NULL. */
const char *program_single_call(const struct program *program, int number[2]);

int64_t monotonic_ns(void);
