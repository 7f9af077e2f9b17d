/* SPDX-License-Identifier: MIT
 *
 * Commands that are printed to be pasted. They call this program as the user did, and what a shell
 * would take apart is quoted.
 */
#ifndef BP_TOOLS_BASE_TERMINAL_HINT_H
#define BP_TOOLS_BASE_TERMINAL_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* What is printed is seen in a notebook: its module sets BATTPROF_CELL. */
bool bp_hint_in_cell(void);
/* Bytes of the first word of a command, up to a blank that no quotes hold. */
size_t bp_hint_word(const char *command);
/* One word as a shell has to be given it: a new text. */
char *bp_hint_quote(const char *word);
/* "battprof report --by task battprof.out": a new text. */
char *bp_hint_report(const char *path, const char *options);

#endif
