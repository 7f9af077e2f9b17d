/* SPDX-License-Identifier: MIT
 *
 * The folder of the project that a program is run in: what is in it is the user's own.
 */
#ifndef BP_TOOLS_RUN_PROJECT_H
#define BP_TOOLS_RUN_PROJECT_H

/* The nearest folder from here upwards that has what projects have at their top (.git,
 * pyproject.toml, …), but not the home directory or what is above it: a new text, "" if there is
 * none. */
char *bp_project_find(void);

#endif
