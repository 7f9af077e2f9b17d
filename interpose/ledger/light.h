/* SPDX-License-Identifier: MIT
 *
 * Adaptive timing: of contexts whose calls are far shorter than the clock is dear, one call in some
 * is timed and the others are counted. docs/internals/adaptive.md has the statistics.
 *
 * A counted call has the entry of its edge instead of one from the free list, so that its callees,
 * unwinders and whoever asks where the thread is see it as any other. Its `start` is
 * BP_ENTRY_UNTIMED: its own time is that of the call it is nested in, until the report moves an
 * estimate. Whoever needs its time from now on may give it a start; its return is then C's.
 *
 * `bp_edge.left` is what the stub counts down. Above 0 the call is counted only. At 0 it is a
 * sample: timed, with the edge as `source` of its entry, closed in C, which draws the next
 * distance. Below 0 every call is timed; once it has passed INT32_MIN the next call is judged here.
 *
 * Built without vector registers and libc, as thread.c.
 */
#ifndef BP_INTERPOSE_LEDGER_LIGHT_H
#define BP_INTERPOSE_LEDGER_LIGHT_H

#include "interpose/ledger/thread.h"

/* The edge of an entry that a counted call or a sample has; NULL: it has another one. The kinds of
 * guests, which are in the same place, are never 0 in their lowest bits. */
static inline struct bp_edge *bp_light_edge(const struct bp_entry *entry) {
    return entry->source & (sizeof(struct bp_edge) - 1) ? NULL : (struct bp_edge *)entry->source;
}

static inline int bp_light_is(const struct bp_entry *entry) {
    const struct bp_edge *edge = bp_light_edge(entry);
    return edge && edge->entry == (uint64_t)entry;
}

/* Whether no start of the call is known. */
static inline int bp_light_is_untimed(const struct bp_entry *entry) {
    return entry->start == BP_ENTRY_UNTIMED;
}

/* The entry of an edge as its next call wants it. */
static inline void bp_light_rest(struct bp_entry *entry) {
    entry->child = 0;
    entry->start = BP_ENTRY_UNTIMED;
}

/* As bp_entry_start. */
static inline uint64_t bp_light_start(const struct bp_entry *entry, uint64_t end) {
    return bp_entry_start(__atomic_load_n(&entry->start, __ATOMIC_RELAXED), entry->child, end);
}

/* A call of the edge was opened in C: does it want to be looked at, or is it a sample? */
void bp_light_opened(struct bp_thread *thread, struct bp_edge *edge, struct bp_entry *entry);

/* A sample returned at `now` after `duration`, of which `self` was its own; or it was left. */
void bp_light_sampled(struct bp_thread *thread, struct bp_edge *edge, uint64_t now,
                      uint64_t duration, uint64_t self);
void bp_light_missed(struct bp_thread *thread, struct bp_edge *edge);

/* A counted call that was given a start took so long since then. */
void bp_light_late(struct bp_edge *edge, uint64_t duration);

/* A counted call was left without returning: from now on all are timed. */
void bp_light_aborted(struct bp_edge *edge);

/* The edge's entry is one call's for good: its stub may yet return, when the function is not open
 * any more. No call of the edge is counted again. */
void bp_light_keep(struct bp_edge *edge);

/* A tick of the thread's timer: counted calls that are open have a start from now on. */
void bp_light_tick(struct bp_thread *thread, uint64_t now);

/* Makes the edge's calls counted ones, with samples at this mean distance. 0 without memory. */
int bp_light_begin(struct bp_thread *thread, struct bp_edge *edge, uint32_t distance);

#endif
