/* SPDX-License-Identifier: MIT
 *
 * What the ledger's files have in common that open, close and abandon calls.
 */
#ifndef BP_INTERPOSE_LEDGER_CALL_H
#define BP_INTERPOSE_LEDGER_CALL_H

#include "interpose/ledger/light.h"
#include "interpose/ledger/thread.h"
#include "profile/clock.h"

static inline uint64_t bp_process_now(void) {
    return bp_clock_now(bp_process.clock);
}

static inline struct bp_local *bp_thread_local(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

static inline struct bp_entry *bp_call_parent(const struct bp_entry *entry) {
    return (struct bp_entry *)entry->parent;
}

static inline struct bp_node *bp_call_node(const struct bp_entry *entry) {
    return (struct bp_node *)entry->node;
}

/* Whether the call's end is to be reported to a guest. */
static inline int bp_call_is_told(const struct bp_entry *entry) {
    return entry->source && !bp_light_edge(entry);
}

/* Move the entry's time to its node and its parent. Its duration so far. */
uint64_t bp_call_settle(struct bp_thread *thread, struct bp_entry *entry, uint64_t now);

/* Report the call's end to its guest. `result` is NULL if it was left. */
void bp_call_tell_left(struct bp_thread *thread, struct bp_entry *entry, uint64_t now,
                       const uint64_t *result);

#endif
