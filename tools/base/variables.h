/* SPDX-License-Identifier: MIT
 *
 * The environment variables of battprof, as interpose/process/variables.def has them.
 */
#ifndef BP_TOOLS_BASE_VARIABLES_H
#define BP_TOOLS_BASE_VARIABLES_H

#include <stdbool.h>

/* Each has the name of the variable that it stands for. */
#define VARIABLE(name, kind, usual, sentence) name,
enum bp_known_variable {
#include "interpose/process/variables.def"
    BP_VARIABLE_NAMES
};
#undef VARIABLE

struct bp_variable_row {
    const char *name;
    const char *usual; /* NULL: none */
    const char *sentence;
};

/* By enum bp_known_variable. */
extern const struct bp_variable_row bp_variable_rows[BP_VARIABLE_NAMES];

struct bp_variable_match {
    char name[64];                     /* cut if it is longer */
    const struct bp_variable_row *row; /* NULL: none of ours */
    const char *nearest;               /* the name that may have been meant, or NULL */
};

/* "NAME=value" of an environment: false unless the name begins as ours do. */
bool bp_variable_match(const char *text, struct bp_variable_match *match);

#endif
