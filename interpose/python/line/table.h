/* SPDX-License-Identifier: MIT
 *
 * The lines of one code object: where each is counted, and which instructions it has. Part of
 * line_counts.c, which says what becomes of them. The GIL protects it.
 */
#ifndef BP_INTERPOSE_PYTHON_LINE_TABLE_H
#define BP_INTERPOSE_PYTHON_LINE_TABLE_H

#include "interpose/python/line/counts.h"

/* One line of a code object. */
struct bp_py_line {
    struct bp_line_count *count; /* NULL: not met yet */
    uint32_t number;             /* among all lines of the process */
};

/* One instruction of it. */
struct bp_py_place {
    uint32_t line;   /* 0: not asked yet */
    uint32_t length; /* instructions from here to the end of the line */
};

struct bp_py_lines {
    void *code;
    uint32_t func;
    int kept;
    uint32_t first; /* line */
    uint32_t slot_count;
    struct bp_py_line *slots; /* by line */
    void *bytes;              /* co_code */
    const char *text;         /* of it */
    uint32_t place_count;
    struct bp_py_place *places; /* by code unit */
    struct bp_line_count *memory;
    uint32_t memory_used;
};

/* A line that is met for the first time; NULL without memory, or if it cannot be one of them. */
__attribute__((noinline)) struct bp_py_line *bp_py_line_new(struct bp_py_lines *lines,
                                                            uint32_t line);

static inline struct bp_py_line *bp_py_line_of(struct bp_py_lines *lines, uint32_t line) {
    uint32_t index = line - lines->first;
    if (__builtin_expect(index < lines->slot_count && lines->slots[index].count != NULL, 1))
        return &lines->slots[index];
    return bp_py_line_new(lines, line);
}

/* The place of the instruction at that byte; one of line 0 if there is none. */
const struct bp_py_place *bp_py_place_of(struct bp_py_lines *lines, int64_t place);

/* Whether any line of the process was met. */
int bp_py_lines_known(void);

#endif
