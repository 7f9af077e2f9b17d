/* SPDX-License-Identifier: MIT
 *
 * The beginning of a profile, for whoever makes one: the target, `battprof run` for its session,
 * imports and tests. System calls alone: inside the target it runs before libc's constructors.
 */
#ifndef BP_PROFILE_HEADER_H
#define BP_PROFILE_HEADER_H

#include "profile/format.h"

/* Which format it is and who wrote it, on `clock`. Nothing else is known yet. */
void bp_header_begin(struct bp_header *header, uint32_t clock);

/* The calling process, which begins at `start` and runs. */
void bp_header_set_process(struct bp_header *header, uint64_t start);

/* Where it runs: host, boot, directory. */
void bp_header_set_place(struct bp_header *header);

/* The program that the process runs. `arguments` as it began with them, or NULL: asked of the
 * kernel, which takes 10 us. */
void bp_header_set_program(struct bp_header *header, char **arguments);

/* Last: now the file is a profile. */
void bp_header_publish(struct bp_header *header);

#endif
