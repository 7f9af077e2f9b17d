/* SPDX-License-Identifier: MIT
 *
 * Lines whose every hit was counted (`run --lines`): part of tools/model/model.h, which includes
 * it.
 */
#ifndef BP_TOOLS_MODEL_LINE_EXACT_LINE_H
#define BP_TOOLS_MODEL_LINE_EXACT_LINE_H

#include <stdint.h>

struct bp_model;

struct bp_exact_line {
    uint32_t function;
    uint32_t line;
    const char *directory; /* of a process that ran it: where a relative file name begins */
    uint64_t hits;
    double self_s;  /* without intercepted calls */
    double total_s; /* with all that it called; of a recursion once */
    double error_s; /* of total_s: how well the cost of counting is known */
};

/* The exact lines of a function, by line; NULL and 0 without. */
const struct bp_exact_line *bp_model_exact_lines(const struct bp_model *model, uint32_t function,
                                                 uint32_t *count);

/* Its source text, as bp_sources_line() has it; NULL if it cannot be shown. */
const char *bp_model_exact_source(const struct bp_model *model, const struct bp_exact_line *line);

#endif
