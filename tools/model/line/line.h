/* SPDX-License-Identifier: MIT
 *
 * Which lines of a function took its time, and what the interpreter was doing there: part of
 * tools/model/model.h, which includes it.
 *
 * Stack samples find the lines; the ledger has the times. A sample stands for its part of the self
 * time of the intercepted call that it was taken in, so the self times of a function's lines sum to
 * its exact self time, without what was spent off the CPU. Waits and CUDA calls have no part in it
 * beyond the CPU time that was sampled in them.
 *
 * self: the function's innermost line. C code that a Python line calls (builtins, the interpreter,
 * C extensions) is part of the line, unless it is an intercepted call: those have times of their
 * own. Code of the DSL that is not intercepted (helpers, generator expressions) is part of the
 * intercepted DSL function around it, with its own file and line.
 * total: the line was anywhere on the stack; where the function calls itself, once per stack.
 *
 * An error is half of the interval that holds the truth in 95 of 100 cases, as in
 * tools/model/group.h.
 */
#ifndef BP_TOOLS_MODEL_LINE_LINE_H
#define BP_TOOLS_MODEL_LINE_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "tools/model/line/exact_line.h"
#include "tools/model/line/spot.h"

struct bp_model;

/* Kinds of work that the interpreter does, as tools/model/line/interpreter.def names them. */
enum bp_line_work {
#define WORK(kind, text) BP_WORK_##kind,
#define SYMBOL(kind, glob)
#include "tools/model/line/interpreter.def"
#undef WORK
#undef SYMBOL
    BP_WORK_KINDS
};

/* What one kind of work took of a function's or a line's self time. */
struct bp_work {
    enum bp_line_work kind;
    uint32_t function; /* BUILTIN, EXTENSION: the C function that was called; else BP_NO_FUNCTION */
    uint64_t samples;
    double s;
    double error_s;
};

struct bp_source_line {
    uint32_t function;
    const char *file;      /* as the interpreter or the line table has it; borrowed */
    const char *directory; /* where a relative `file` begins; borrowed */
    uint32_t line;
    uint64_t self_samples;
    uint64_t total_samples;
    double self_s;
    double self_error_s;
    double self_wall_s; /* its part of the wall split */
    double total_s;
    double total_error_s;
    double total_wall_s;
    uint32_t callee; /* of the functions called from here the one that took most of total_s, or
                        BP_NO_FUNCTION */
    double callee_s;
    struct bp_work *works; /* of self_s, by falling s; Python lines only */
    uint32_t work_count;
};

/* The lines of one function. */
struct bp_function_lines {
    struct bp_source_line *lines; /* by falling self_s, then falling total_s */
    uint32_t count;
    double self_s;         /* of all lines: what percentages of lines refer to */
    double total_s;        /* time in which samples found the function on the stack */
    struct bp_work *works; /* of self_s, by falling s */
    uint32_t work_count;
};

struct bp_sources;

struct bp_model_lines {
    struct bp_spot *spots; /* lines of the program, by falling wall_s */
    uint32_t spot_count;
    struct bp_spot_share *shares;
    uint32_t share_count;
    struct bp_function_lines *functions; /* by function; bp_model_lines() */
    uint32_t function_count;
    struct bp_exact_line *exact; /* by function, then line */
    uint32_t exact_count;
    struct bp_sources *sources; /* bp_model_source() */
};

/* Borrowed; without lines where samples found none. */
const struct bp_function_lines *bp_model_lines(const struct bp_model *model, uint32_t function);

/* The source text of a line, as bp_sources_line() has it; NULL if it cannot be shown. */
const char *bp_model_source(const struct bp_model *model, const struct bp_source_line *line);

/* "building strings", "sorted()", "_json: scanstring": a new text. */
char *bp_work_label(const struct bp_model *model, const struct bp_work *work);
/* "building strings": the kind for tables and JSON. */
const char *bp_work_name(enum bp_line_work kind);

#endif
