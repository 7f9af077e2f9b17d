/* SPDX-License-Identifier: MIT
 *
 * Which runs a path stands for: `battprof run --repeat N` leaves DIR/1 … DIR/N, each a profile of
 * its own; every other path is one run.
 */
#ifndef BP_TOOLS_BASE_RUNS_H
#define BP_TOOLS_BASE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"

/* In every directory that a run wrote: what `battprof run` itself knows of it. */
#define BP_SESSION_FILE "run.bp"

struct bp_runs {
    char **path; /* at least one */
    uint32_t count;
    bool repeated;
};

void bp_runs_init(struct bp_runs *runs, const char *path);
void bp_runs_fini(struct bp_runs *runs);

/* "1", "2", …: the name of a directory of a repeated run. */
bool bp_runs_is_number(const char *name);

/* The process that writes a profile runs, on this machine, and is no zombie. A killed one says
 * nothing of its end, and the kernel gives its number to others. */
bool bp_runs_is_alive(const struct bp_header *header);

#endif
