/* SPDX-License-Identifier: MIT
 *
 * The environment as it was at start: our own variables (variables.def), and those that say which
 * part of a larger run the process is.
 */
#ifndef BP_INTERPOSE_PROCESS_VARIABLES_H
#define BP_INTERPOSE_PROCESS_VARIABLES_H

/* Each has the name of the variable that it stands for. */
#define VARIABLE(name, kind, usual, sentence) name,
enum bp_variable_name {
#include "interpose/process/variables.def"
    BP_VARIABLE_NAMES
};
#undef VARIABLE

/* Copies our variables: programs write over their environment. Before all others. */
void bp_variables_read(char **environment);

/* Its value, else its default; NULL if there is neither. An empty one counts as unset. */
const char *bp_variable_get(enum bp_variable_name name);

/* What children are to get as this process got it: the name and value of the next such variable
 * from `*at` on, which is moved behind it. NULL at the end. */
const char *bp_variables_inherited(unsigned *at, const char **value);

/* The first variable with our prefix that is none of ours, or NULL. */
const char *bp_variables_unknown(void);

/* Puts into the profile what tells processes of one run apart and what was asked to be measured.
 * Once, when the profile exists. */
void bp_variables_note(char **environment);

#endif
