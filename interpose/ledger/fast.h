/* SPDX-License-Identifier: MIT
 *
 * bp_thread_open and bp_thread_close for calls that come by the million: what stub.S does, in C,
 * within the caller. Whatever is rare goes to thread.c. The same rules hold: a signal handler may
 * run hooked calls between any two statements.
 */
#ifndef BP_INTERPOSE_LEDGER_FAST_H
#define BP_INTERPOSE_LEDGER_FAST_H

#include "interpose/ledger/thread.h"
#include "profile/clock.h"

/* The node of the call; 0: nobody has looked it up lately. */
static inline uint64_t bp_fast_node(const struct bp_thread *thread, uint64_t parent,
                                    const struct bp_stub *stub) {
    struct bp_edge *const *edges = ((const struct bp_local *)thread->local)->edges;
    const struct bp_edge *edge =
        __atomic_load_n(&edges[bp_edge_place(parent, (uint64_t)stub)], __ATOMIC_RELAXED);
    return edge && edge->parent == parent && edge->stub == (uint64_t)stub ? edge->node : 0;
}

/* bp_bucket() of less than 2^48 ticks: the exponent of a double and the first bit after the point.
 * bsr would do it in fewer instructions, but where it is microcode (Zen) a Python call takes 7 ns
 * more with it. */
static inline uint32_t bp_fast_bucket(uint64_t ticks) {
    double d = (double)(int64_t)(ticks | 2);
    uint64_t bits;
    __builtin_memcpy(&bits, &d, sizeof bits);
    return (uint32_t)(bits >> 51) - 2 * 1023;
}

/* `sp` as for bp_thread_open, aligned to 8. NULL: nothing is done, bp_thread_open has to be
 * asked. Not for a thread that has no ledger yet, nor with another clock than the time stamp
 * counter. */
static inline __attribute__((always_inline)) struct bp_entry *
bp_fast_enter(struct bp_thread *thread, struct bp_stub *stub, uint64_t sp) {
    uint64_t jumped = __atomic_load_n(&thread->jumped, __ATOMIC_RELAXED); /* before `current` */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct bp_entry *parent = (struct bp_entry *)thread->current;
    struct bp_entry *entry = (struct bp_entry *)__atomic_load_n(&thread->free, __ATOMIC_RELAXED);
    if (__builtin_expect(parent->sp <= sp || !entry || jumped > sp, 0))
        return NULL;
    uint64_t node = bp_fast_node(thread, parent->node, stub);
    if (__builtin_expect(!node || parent->sp & (BP_ENTRY_CLOSED | BP_ENTRY_INHERITED), 0))
        return NULL;
    uint64_t start = bp_clock_tsc();
    __atomic_store_n(&thread->free, entry->child, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->ret = 0;
    entry->rbx = 0;
    entry->parent = (uint64_t)parent;
    entry->node = node;
    entry->child = 0;
    entry->sp = sp ? sp : (parent->sp & ~UINT64_C(7)) - 8;
    ((struct bp_local *)thread->local)->open[stub->func]++;
    thread->jumped = 0;
    entry->start = start;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)entry, __ATOMIC_RELAXED);
    return entry;
}

/* bp_fast_enter for a generator that goes on after it paused. */
static inline struct bp_entry *bp_fast_resume(struct bp_thread *thread, struct bp_stub *stub,
                                              uint64_t sp) {
    struct bp_entry *entry = bp_fast_enter(thread, stub, sp);
    if (entry)
        entry->rbx = 1;
    return entry;
}

/* 0 if it is done. Else 1: the function is not open, as in a forked child that no handler of ours
 * saw; nothing has changed. */
static inline int bp_fast_close(struct bp_thread *thread, struct bp_entry *entry,
                                uint64_t duration) {
    struct bp_node *node = (struct bp_node *)entry->node;
    struct bp_entry *parent = (struct bp_entry *)entry->parent;
    uint32_t *open = &((struct bp_local *)thread->local)->open[node->func];
    if (__builtin_expect(--*open == 0, 1)) {
        node->total += duration;
    } else if (*open != UINT32_MAX) {
        node->inner += duration;
    } else {
        *open = 0;
        return 1;
    }
    parent->child += duration;
    node->self += duration - entry->child;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->current, (uint64_t)parent, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->child = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->free, (uint64_t)entry, __ATOMIC_RELAXED);
    return 0;
}

/* Closes a call that bp_fast_enter opened on this thread. 0 if that is done; else 1, and
 * bp_thread_close has to close it at `now`. */
static inline int bp_fast_leave(struct bp_thread *thread, struct bp_entry *entry, uint64_t *now) {
    *now = 0;
    if (__builtin_expect((struct bp_entry *)thread->current != entry, 0))
        return 1;
    *now = bp_clock_tsc();
    uint64_t duration = *now - entry->start;
    struct bp_node *node = (struct bp_node *)entry->node;
    if (__builtin_expect(duration - node->min > node->span, 0))
        return 1;
    if (bp_fast_close(thread, entry, duration))
        return 1;
    node->histogram[node->last]++; /* of the call before this one, as in the stub */
    node->last = bp_fast_bucket(duration);
    return 0;
}

/* A call that bp_fast_resume opened pauses again, or ends. */
static inline void bp_fast_pause(struct bp_thread *thread, struct bp_entry *entry) {
    uint64_t now = bp_clock_tsc();
    if (__builtin_expect((struct bp_entry *)thread->current != entry, 0) ||
        bp_fast_close(thread, entry, now > entry->start ? now - entry->start : 0))
        bp_thread_close(entry, now);
}

#endif
