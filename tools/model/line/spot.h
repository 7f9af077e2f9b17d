/* SPDX-License-Identifier: MIT
 *
 * Which lines of the program its time comes from: part of tools/model/model.h, which includes it.
 *
 * A sample belongs to the innermost line that the user wrote: code of the DSL and of the program.
 * The standard library, installed packages, libc and the interpreter work for the line that called
 * them. So each sample has one spot, spots do not overlap, and the time of one is what the run
 * would not take without that line.
 */
#ifndef BP_TOOLS_MODEL_LINE_SPOT_H
#define BP_TOOLS_MODEL_LINE_SPOT_H

#include <stdint.h>

struct bp_model;
struct bp_pools;

/* Why a line takes long. */
enum bp_cause {
#define CAUSE(id, ...) BP_CAUSE_##id,
#define BELOW(...)
#define WORD(...)
#include "tools/model/line/causes.def"
#undef CAUSE
#undef BELOW
#undef WORD
    BP_CAUSES
};

struct bp_spot {
    uint32_t function; /* that the line is in; of several on one line the one that has its name */
    const char *file;  /* borrowed */
    const char *directory; /* where a relative file name begins; borrowed */
    uint32_t line;
    uint32_t place; /* where it was when it was found */
    uint64_t samples;
    double self_s;                /* thread-seconds */
    double wall_s;                /* in the wall split */
    double evidence_s[BP_CAUSES]; /* of wall_s: below functions that prove a cause */
    double unnamed_s;             /* of wall_s: in functions whose names are not known */
};

/* What of an intercepted function's own time is at a line: its own, or one of a function that it
 * calls and that is not intercepted. */
struct bp_spot_share {
    uint32_t function;
    uint32_t spot;
    uint64_t samples;
    double wall_s;
};

/* The model's spots, by falling wall_s, and their shares. */
void bp_model_find_spots(struct bp_model *model, const struct bp_pools *pools);

/* The causes that a function proves where it is called, as bits. */
uint32_t bp_cause_mask(const struct bp_model *model, uint32_t function);

/* The time of all lines of a function, in the wall split. */
double bp_model_spots_wall(const struct bp_model *model, uint32_t function);

#endif
