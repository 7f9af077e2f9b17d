/* SPDX-License-Identifier: MIT */
#ifndef BP_INTERPOSE_VARIABLES_H
#define BP_INTERPOSE_VARIABLES_H

/* Note the variables that tell processes of one run apart. Once, when the profile exists. */
void bp_variables_note(char **environment);

#endif
