/* SPDX-License-Identifier: MIT
 *
 * bp_source_enter and bp_source_leave for calls that come by the million: what stub.S does, in C,
 * within the caller. Whatever is rare goes to thread.c. The same rules hold: a signal handler may
 * run hooked calls between any two statements.
 */
#ifndef BP_INTERPOSE_FAST_H
#define BP_INTERPOSE_FAST_H

#include "interpose/source.h"
#include "profile/clock.h"

static inline struct bp_edge *bp_fast_edge(const struct bp_thread *thread, uint64_t parent,
                                           const struct bp_stub *stub) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint64_t offset = (parent * BP_EDGE_FACTOR >> BP_EDGE_SHIFT) + 2 * (uint64_t)stub;
    return &local->edges[offset / sizeof(struct bp_edge) & (BP_EDGES - 1)];
}

static inline struct bp_entry *bp_fast_enter(struct bp_stub *stub, uint64_t sp) {
    struct bp_thread *thread = bp_self;
    if (!thread || bp_process.clock != BP_CLOCK_TSC)
        return bp_source_enter(stub, sp);
    struct bp_entry *parent = (struct bp_entry *)thread->current;
    const struct bp_edge *edge = bp_fast_edge(thread, parent->node, stub);
    uint64_t node = __atomic_load_n(&edge->node, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* before the key: a handler may replace both */
    struct bp_entry *entry = (struct bp_entry *)__atomic_load_n(&thread->free, __ATOMIC_RELAXED);
    if (parent->sp <= sp || parent->sp & BP_ENTRY_CLOSED || edge->parent != parent->node ||
        edge->stub != (uint64_t)stub || !entry)
        return bp_source_enter(stub, sp);
    __atomic_store_n(&thread->free, entry->child, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->ret = 0;
    entry->rbx = 0;
    entry->parent = (uint64_t)parent;
    entry->node = node;
    entry->child = 0;
    entry->sp = sp ? sp & ~UINT64_C(7) : (parent->sp & ~UINT64_C(7)) - 8;
    ((struct bp_local *)thread->local)->open[stub->func]++;
    entry->start = bp_clock_tsc();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)entry, __ATOMIC_RELAXED);
    return entry;
}

static inline void bp_fast_leave(struct bp_entry *entry) {
    struct bp_thread *thread = bp_self;
    if (!entry || !thread || (struct bp_entry *)thread->current != entry || entry->rbx ||
        bp_process.clock != BP_CLOCK_TSC) {
        bp_source_leave(entry, 0);
        return;
    }
    uint64_t now = bp_clock_tsc(), duration = now - entry->start;
    struct bp_node *node = (struct bp_node *)entry->node;
    struct bp_entry *parent = (struct bp_entry *)entry->parent;
    uint32_t *open = &((struct bp_local *)thread->local)->open[node->func];
    if (duration - node->min > node->span || parent->sp & BP_ENTRY_INHERITED) {
        bp_source_leave(entry, now); /* a later reading would not be the least, ever */
        return;
    }
    *(--*open ? &node->inner : &node->total) += duration;
    parent->child += duration;
    node->self += duration - entry->child;
    node->histogram[node->last]++; /* of the call before this one, as in the stub */
    node->last = bp_bucket(duration);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)parent, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->child = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->free, (uint64_t)entry, __ATOMIC_RELAXED);
}

#endif
