/* SPDX-License-Identifier: MIT
 *
 * The free list of a thread's entries. Stubs have the same in assembly (TAKE and RETURN in
 * stub.inc).
 */
#ifndef BP_INTERPOSE_LEDGER_ENTRY_H
#define BP_INTERPOSE_LEDGER_ENTRY_H

#include "interpose/ledger/thread.h"
#include "profile/stop.h"

/* Makes more of them, and gives these. 0 without memory. */
int bp_entries_grow(struct bp_thread *thread);

/* The free list is a stack that a signal handler uses between any two of our instructions; it
 * leaves it as it was, so plain loads and stores in this order will do. */
static inline void bp_entry_give(struct bp_thread *thread, struct bp_entry *entry) {
    entry->child = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->free, (uint64_t)entry, __ATOMIC_RELAXED);
}

static inline struct bp_entry *bp_entry_take(struct bp_thread *thread) {
    if (!thread->free && !bp_entries_grow(thread))
        return NULL;
    struct bp_entry *entry = (struct bp_entry *)__atomic_load_n(&thread->free, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    BP_STOP(ENTRY_TAKEN);
    __atomic_store_n(&thread->free, entry->child, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return entry;
}

#endif
