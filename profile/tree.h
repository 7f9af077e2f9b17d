/* SPDX-License-Identifier: MIT
 *
 * The wall page: who shares each second of wall time (docs/internals/ledger.md, "wall split").
 * Lock-free, because a process of the tree may be killed at any instruction: one 128-bit
 * compare-exchange replaces v, time and n together. Never on the path of a plain call; only when
 * a thread starts, ends, begins to wait or stops waiting.
 */
#ifndef BP_PROFILE_TREE_H
#define BP_PROFILE_TREE_H

#include <stddef.h>

#include "profile/arch.h"
#include "profile/format.h"

#define BP_TREE_N_MASK 0xffffu

static inline int bp_tree_exchange(struct bp_tree_word *word, struct bp_tree_word *expected,
                                   struct bp_tree_word desired) {
    return bp_exchange_pair(word, &expected->v, &expected->time_n, desired.v, desired.time_n);
}

/* The page at the instant `ticks`, had nothing else happened since; `idle` takes the ticks that
 * passed without a busy thread. */
static inline struct bp_tree_word bp_tree_at(struct bp_tree_word word, uint64_t start,
                                             uint64_t ticks, uint64_t *idle) {
    uint64_t n = word.time_n & BP_TREE_N_MASK, time = word.time_n >> 16;
    uint64_t now = ticks > start ? (ticks - start) >> BP_TREE_TICK_SHIFT : 0;
    uint64_t dt = now > time ? now - time : 0;
    if (n)
        word.v += (dt << 16) / n;
    *idle = n ? 0 : dt << BP_TREE_TICK_SHIFT;
    word.time_n = (time + dt) << 16 | n;
    return word;
}

struct bp_tree_step {
    uint64_t v;    /* after the step */
    uint64_t idle; /* ticks with no busy thread that this step brings to an end */
};

/* The page at `ticks`, n changed by `change`, and the bits of `set` in its time. */
static inline struct bp_tree_step bp_tree_move(struct bp_tree *tree, uint64_t ticks, int change,
                                               uint64_t set) {
    struct bp_tree_word old = {__atomic_load_n(&tree->word.v, __ATOMIC_RELAXED),
                               __atomic_load_n(&tree->word.time_n, __ATOMIC_RELAXED)};
    struct bp_tree_word next;
    struct bp_tree_step step;
    do {
        next = bp_tree_at(old, tree->start, ticks, &step.idle);
        int64_t n = (int64_t)(next.time_n & BP_TREE_N_MASK) + change;
        next.time_n = (next.time_n & ~(uint64_t)BP_TREE_N_MASK) | (uint64_t)(n < 0 ? 0 : n) | set;
    } while (!bp_tree_exchange(&tree->word, &old, next));
    step.v = next.v;
    return step;
}

/* Advance the page to `ticks` and change n by `change`. */
static inline struct bp_tree_step bp_tree_advance(struct bp_tree *tree, uint64_t ticks,
                                                  int change) {
    return bp_tree_move(tree, ticks, change, 0);
}

/* The run is over: nobody has a part of what comes after. */
static inline struct bp_tree_step bp_tree_close(struct bp_tree *tree, uint64_t ticks) {
    struct bp_tree_step step = bp_tree_move(tree, ticks, 0, ~(uint64_t)BP_TREE_N_MASK);
    tree->closed_idle = step.idle;
    tree->closed = ticks;
    return step;
}

/* The slot of a process, NULL if it has none. */
static inline struct bp_tree_slot *bp_tree_slot_of(struct bp_tree *tree, int32_t pid) {
    for (unsigned i = 0; i < BP_TREE_SLOTS; i++)
        if (__atomic_load_n(&tree->slots[i].pid, __ATOMIC_ACQUIRE) == pid)
            return &tree->slots[i];
    return NULL;
}

static inline struct bp_tree_slot *bp_tree_claim(struct bp_tree *tree, int32_t pid) {
    for (unsigned i = 0; i < BP_TREE_SLOTS; i++) {
        int32_t nobody = 0;
        struct bp_tree_slot *slot = &tree->slots[i];
        if (__atomic_compare_exchange_n(&slot->pid, &nobody, pid, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return slot;
    }
    return NULL;
}

/* Give the slot back; threads that it still counts as busy leave the wall now. */
static inline struct bp_tree_step bp_tree_release(struct bp_tree *tree, struct bp_tree_slot *slot,
                                                  uint64_t ticks) {
    uint32_t busy = __atomic_exchange_n(&slot->busy, 0, __ATOMIC_ACQ_REL);
    struct bp_tree_step step = bp_tree_advance(tree, ticks, -(int)busy);
    __atomic_store_n(&slot->pid, 0, __ATOMIC_RELEASE);
    return step;
}

#endif
