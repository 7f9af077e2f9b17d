/* SPDX-License-Identifier: MIT
 *
 * A terminal as a screen: keys one at a time, a page in place of the last. Whatever ends the
 * command — a key, an error, a signal, no memory — the terminal is as it was before.
 */
#ifndef BP_TOOLS_LIVE_TERMINAL_H
#define BP_TOOLS_LIVE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* False if stdin or stdout is none, or it cannot place text (TERM=dumb). */
bool bp_terminal_open(void);
void bp_terminal_close(void);

void bp_terminal_size(int *columns, int *rows);

/* Shows a page of lines: each takes one row and the rest of the screen is empty. */
void bp_terminal_show(const char *text, size_t length);

enum { BP_TERMINAL_NOTHING = 0, BP_TERMINAL_RESIZED = -1, BP_TERMINAL_END = -2 };

/* A key, or one of the above: nothing within the time, another size, or a signal to end by. */
int bp_terminal_key(int milliseconds);

/* Ends by the signal that asked for it, if one did: as if nobody had caught it. */
void bp_terminal_raise(void);

#endif
