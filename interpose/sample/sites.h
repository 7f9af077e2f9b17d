/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: one stack per call path and direction.
 */
#ifndef BP_INTERPOSE_SAMPLE_SITES_H
#define BP_INTERPOSE_SAMPLE_SITES_H

#include "interpose/ledger/thread.h"

/* The open call of `entry` copies so many bytes in that direction, negative if it does not say.
 * What counts it, or NULL. */
struct bp_sample *bp_sites_count(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction);

#endif
