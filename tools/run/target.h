/* SPDX-License-Identifier: MIT
 *
 * Runs the target as if battprof were not there: same standard files, terminal, process group,
 * signal mask and dispositions; and passes on what is meant for it.
 */
#ifndef BP_TOOLS_RUN_TARGET_H
#define BP_TOOLS_RUN_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "tools/base/error.h"

struct bp_target {
    char **argv;        /* what to run, NULL-terminated */
    char **environment; /* assignments to add, "NAME=value", NULL-terminated; may be NULL */
    pid_t pid;
    int status; /* as from wait(2) */
    int pidfd;  /* of bp_target_wait_for; 0 before */
};

/* Starts it. The error is set, with status 126 or 127 and a sentence, if it could not be
 * executed. */
int bp_target_start(struct bp_target *target, struct bp_error *error);

/* Returns when it has ended but before it is reaped, so that the caller can read the clock;
 * INT, QUIT, TERM, HUP, USR1 and USR2 are passed on if they were sent to us and not to the whole
 * process group. */
void bp_target_wait(const struct bp_target *target);

/* Waits that long at most; 0 while it runs. -1 where the kernel cannot do that. */
int bp_target_wait_for(struct bp_target *target, int milliseconds);

/* Reaps it and stores the status; signals are then ours again. */
void bp_target_reap(struct bp_target *target);

/* The exit status to return; does not return if it died of a signal: we die of the same. */
int bp_target_leave(const struct bp_target *target);

#endif
