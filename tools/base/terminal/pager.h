/* SPDX-License-Identifier: MIT
 *
 * A text for people on its way to a terminal. It is held back until it is whole: then no line is
 * longer than the terminal is wide, and one that is too short for it gets a pager, as git does it:
 * $PAGER or less, with LESS=FRX unless the user has a LESS of their own. NO_PAGER turns it off.
 */
#ifndef BP_TOOLS_BASE_TERMINAL_PAGER_H
#define BP_TOOLS_BASE_TERMINAL_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct bp_pager {
    FILE *out;    /* where the text goes to */
    FILE *memory; /* to be written to */
    char *text;
    size_t size;
};

/* Begins a text for `out`: write to `memory`. 0, or -1 without memory. */
int bp_pager_open(struct bp_pager *pager, FILE *out);
/* The text is whole; no line of it is longer than the terminal is wide. */
void bp_pager_end(struct bp_pager *pager);
/* More lines than its terminal has; never on anything else. To be asked after the end. */
bool bp_pager_is_long(const struct bp_pager *pager);
/* Writes the text, through a pager where it is `paged` and too long; 0, or -1 with errno set if it
 * could not be written. A pager that is left early is no error. */
int bp_pager_show(struct bp_pager *pager, bool paged);
void bp_pager_fini(struct bp_pager *pager);

#endif
