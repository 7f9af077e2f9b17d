/* SPDX-License-Identifier: MIT
 *
 * Starts and stops the recording of processes that run, and marks an instant of their run. The word
 * that says so is in the header of each process's profile, the marks are beside the wall page: who
 * may write these files may do it. What the process does then: interpose/process/switch.h.
 */
#ifndef BP_TOOLS_LIVE_CONTROL_H
#define BP_TOOLS_LIVE_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/base/error.h"

/* `word` is a process, a profile or the directory of a run: then all of its processes, and those to
 * come; NULL: the run in the working directory. Returns when the processes have done it, or have
 * had the time to; says on `out` which have not. 0, or -1 with the error set. */
int bp_control_switch(const char *word, bool paused, FILE *out, struct bp_error *error);

int bp_control_mark(const char *word, const char *text, FILE *out, struct bp_error *error);

#endif
