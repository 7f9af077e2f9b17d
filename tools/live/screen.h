/* SPDX-License-Identifier: MIT
 *
 * What `battprof top` shows of a look: the head, and one of three tables. On a terminal as many
 * rows as fit; elsewhere a block of lines.
 */
#ifndef BP_TOOLS_LIVE_SCREEN_H
#define BP_TOOLS_LIVE_SCREEN_H

#include "tools/base/page.h"
#include "tools/live/look.h"

enum bp_screen_table {
    BP_SCREEN_FUNCTIONS,
    BP_SCREEN_THREADS,
    BP_SCREEN_PROCESSES,
    BP_SCREEN_HELP
};

enum bp_screen_sort { BP_SORT_SELF, BP_SORT_CALLS, BP_SORT_ALL, BP_SORTS };

struct bp_screen {
    struct bp_page page;
    int rows; /* lines of the screen */
    enum bp_screen_table table;
    enum bp_screen_sort sort;
    bool frozen;
    bool keys;         /* there is a keyboard */
    double budget_s;   /* 0: none */
    unsigned expected; /* tasks; 0: unknown */
};

void bp_screen_print(const struct bp_screen *screen, const struct bp_look *look);

/* screen_table.c */
void bp_screen_table(const struct bp_screen *screen, const struct bp_look *look, int rows);

#endif
