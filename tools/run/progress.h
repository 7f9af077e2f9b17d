/* SPDX-License-Identifier: MIT
 *
 * `battprof run --progress`: a line on stderr for every task that has ended, read from the profiles
 * while the target writes them. The target knows nothing of it.
 */
#ifndef BP_TOOLS_RUN_PROGRESS_H
#define BP_TOOLS_RUN_PROGRESS_H

#include <stdint.h>

struct bp_progress;

/* Tasks of the profiles in `directory`, which is borrowed; the clock has so many ticks a second. */
struct bp_progress *bp_progress_new(const char *directory, uint64_t ticks_per_s);
void bp_progress_free(struct bp_progress *progress);

/* Print what has ended since the last time. */
void bp_progress_poll(struct bp_progress *progress);

#endif
