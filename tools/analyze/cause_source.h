/* SPDX-License-Identifier: MIT
 *
 * What the source says about a line that takes long: part of cause.c. Nothing if the source is not
 * there, or was changed since the run.
 */
#ifndef BP_TOOLS_ANALYZE_CAUSE_SOURCE_H
#define BP_TOOLS_ANALYZE_CAUSE_SOURCE_H

#include "tools/model/model.h"

/* The statement at the line, with the lines before it on which it began; "" if it is unknown.
 * A new text. */
char *bp_spot_statement(const struct bp_model *model, const struct bp_spot *spot);

/* Whether a line sorts the same again. */
enum bp_again {
    BP_AGAIN_UNKNOWN, /* no source, or in no loop: its function may be called with the same */
    BP_AGAIN_OTHER,   /* something else in each round of the loop that it is in */
    BP_AGAIN_SAME     /* the same in each round, as far as the lines of the loop tell */
};
enum bp_again bp_spot_sorts_again(const struct bp_model *model, const struct bp_spot *spot);

/* The one intercepted function that the statement calls; BP_NO_FUNCTION if there are several. */
uint32_t bp_spot_callee(const struct bp_model *model, const struct bp_spot *spot);

#endif
