/* SPDX-License-Identifier: MIT
 *
 * Exact hits and times of the lines of chosen functions (`run --lines`): where they are counted,
 * whichever way a version of CPython announces lines (trace.c, monitor.c). The GIL protects all of
 * it. A function that is not chosen never comes here.
 */
#ifndef BP_INTERPOSE_PYTHON_LINE_COUNTS_H
#define BP_INTERPOSE_PYTHON_LINE_COUNTS_H

#include "interpose/python/code.h"

struct bp_py_lines;

/* A frame of a chosen function while it runs. */
struct bp_py_stretch {
    struct bp_py_stretch *outer; /* that the thread is in, or the next free one */
    void *frame;
    struct bp_py_lines *lines;
    struct bp_entry *entry;      /* its call; NULL: not recorded */
    struct bp_line_count *count; /* the line that it is on; NULL: none */
    uint32_t number;             /* of that line */
    uint64_t start;              /* of the line: ticks */
    uint64_t child;              /* then, in calls of `entry` that had ended */
    uint64_t own;                /* then, of ours: bp_py_line_thread.own */
    uint64_t cost;               /* of ours in the line itself, 1/256 ticks */
    uint64_t passed;             /* when the line began: bp_node.passed of `entry` */
};

/* What we take, 1/256 ticks: one line event of its line's time; each instruction in a frame that is
 * traced; one call of a function whose lines are counted, and of one that is only measured, of the
 * time of the line that calls it. */
struct bp_py_line_cost {
    uint32_t event;
    uint32_t again; /* an event of the same line as the one before: a loop in one line */
    uint32_t instruction;
    uint32_t call;
    uint32_t resume; /* of a generator */
    uint32_t plain;
    uint32_t passed; /* one in bp_node.passed */
};
extern struct bp_py_line_cost bp_py_line_cost __attribute__((visibility("hidden")));

/* The lines of a code object whose function is `func`; NULL without memory. `kept`: in the profile;
 * else in memory, for calibration. */
struct bp_py_lines *bp_py_lines_new(void *code, uint32_t func, int kept);
void bp_py_lines_free(struct bp_py_lines *lines);

/* A frame of it begins to run, or goes on, in the calling thread. NULL: nothing is counted. */
struct bp_py_stretch *bp_py_lines_begin(struct bp_py_lines *lines, void *frame,
                                        struct bp_entry *entry, int resumed);

/* What was taken out in the calling thread until now, 1/256 ticks. */
uint64_t bp_py_lines_taken(void);

/* The innermost one; and the one of that frame, in which nothing further in is running. */
struct bp_py_stretch *bp_py_lines_innermost(void);
struct bp_py_stretch *bp_py_lines_find(const void *frame);

/* The line that the thread is in calls a function that is measured without its lines. */
void bp_py_lines_called(void);

/* Ticks that we took of the line that the thread is in, as clocks show. */
void bp_py_lines_spent(uint64_t ticks);

/* It comes to a line: one more hit. `place` is that of the instruction in the code, in bytes;
 * negative: instructions have no cost. */
void bp_py_lines_at(struct bp_py_stretch *stretch, uint32_t line, int64_t place);

/* It goes on within the line of that instruction, which is no hit. */
void bp_py_lines_go_on(struct bp_py_stretch *stretch, int64_t place);

/* The line ends and none follows yet. */
void bp_py_lines_pause(struct bp_py_stretch *stretch);

/* The frame returns, yields or is left by an exception. */
void bp_py_lines_end(struct bp_py_stretch *stretch);

/* In a forked child, with the process lock held: counts begin at zero, open lines now. */
void bp_py_lines_after_fork(void);

/* Its instructions. */
uint32_t bp_py_lines_size(const struct bp_py_lines *lines);

#endif
