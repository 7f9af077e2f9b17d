/* SPDX-License-Identifier: MIT
 *
 * The directory that a run writes to. The last one is kept as DIR.old; nothing that battprof did
 * not write is ever removed.
 */
#ifndef BP_TOOLS_RUN_OUTPUT_H
#define BP_TOOLS_RUN_OUTPUT_H

#include "tools/base/error.h"

#define BP_DEFAULT_OUTPUT "battprof.out"

/* Makes a new, empty directory at `wish`, moving a profile that is there to `wish`.old. Returns
 * its absolute path: a new text, or NULL. */
char *bp_output_prepare(const char *wish, struct bp_error *error);

/* DIR/1, DIR/2, …: a directory for one run of a series, likewise. */
char *bp_output_add_run(const char *output, unsigned number, struct bp_error *error);

/* Profiles of processes in it (run.bp aside); -1 if it cannot be read. */
int bp_output_count(const char *directory);

#endif
