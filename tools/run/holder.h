/* SPDX-License-Identifier: MIT
 *
 * A process that holds a file in memory open, under a path of its own: /proc/PID/fd/N. It lives as
 * long as we do, and on while a program of the run does that may load the file again. It has a
 * session of its own, so no signal for the run reaches it.
 */
#ifndef BP_TOOLS_RUN_HOLDER_H
#define BP_TOOLS_RUN_HOLDER_H

#include <sys/types.h>

struct bp_holder {
    pid_t pid; /* 0: none */
    int end;   /* closed when we are gone */
    char *path;
};

/* Takes the descriptor. 0 or -errno. */
int bp_holder_start(struct bp_holder *holder, int fd);

/* Ends it, unless a program still needs it. */
void bp_holder_fini(struct bp_holder *holder);

#endif
