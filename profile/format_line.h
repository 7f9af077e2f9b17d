/* SPDX-License-Identifier: MIT
 *
 * What the profile file says about lines that `run --lines` counts, since format 1.6; part of
 * profile/format.h, which includes it. An item is one source line of one function of Python. It is
 * written in place by all threads, under Python's global interpreter lock.
 */
#ifndef BP_PROFILE_FORMAT_LINE_H
#define BP_PROFILE_FORMAT_LINE_H

#include <stdint.h>

/* The line has a loop within itself, such as a comprehension of CPython 3.12 and later. Its rounds
 * are slower while its lines are counted, by instructions that announce nothing: `total` is too
 * long by an unknown part. */
#define BP_LINE_ROUNDS 0x1u

/* A stretch of a line begins with its event, or where a generator goes on within it, and lasts
 * until the frame's next line, its return or its yield. `total` is the time in which the line was
 * open in a thread, however often it was open there, so a recursion counts once. While stretches
 * are open, `total` lacks what began them: add `open` times the present. The profiler's
 * overhead is not in `self` and `total`. */
struct bp_line_count {
    uint32_t func; /* index in BP_FUNCS */
    uint32_t line;
    uint64_t hits;  /* line events */
    uint64_t self;  /* ticks, without intercepted calls; of stretches that have ended */
    uint64_t total; /* ticks, with all calls; see above */
    uint32_t open;  /* threads that are in the line */
    uint32_t flags; /* BP_LINE_ROUNDS */
    uint64_t taken; /* ticks of ours that were in the line, which `total` is free of */
};
_Static_assert(sizeof(struct bp_line_count) == 48, "line count");

#endif
