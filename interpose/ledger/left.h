/* SPDX-License-Identifier: MIT
 *
 * Calls that end otherwise than by returning where they were made. bp_thread_abandon and
 * bp_thread_unwound are here, too.
 */
#ifndef BP_INTERPOSE_LEDGER_LEFT_H
#define BP_INTERPOSE_LEDGER_LEFT_H

#include "interpose/ledger/thread.h"

/* The entry that a call made at `sp` is nested in. Calls whose frames are gone are closed. */
struct bp_entry *bp_left_settle_at(struct bp_thread *thread, uint64_t sp, uint64_t now);

/* The end of a call that was opened before fork: the parent process counts it, this one has its
 * time. */
void bp_left_inherited(struct bp_thread *thread, struct bp_entry *entry, uint64_t now);

/* The end of a call that is not the innermost one. 0: another thread opened it, and its entry is
 * that thread's. */
int bp_left_elsewhere(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, int counted);

#endif
