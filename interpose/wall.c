/* SPDX-License-Identifier: MIT
 *
 * A thread's part of the wall (docs/architecture.md, "wall split"): it joins the tree's page while
 * it is busy and leaves it while it waits. Built without vector registers, as thread.c.
 */
#include "interpose/thread.h"
#include "profile/tree.h"

static int counted(void) {
    return bp_process.tree && bp_process.slot && !bp_process.tree_off;
}

/* The page and the process's slot change one after the other: a process killed between the two
 * leaves n wrong by one until the tree is empty. The gap is some 10 ns. */
static struct bp_tree_step step(uint64_t now, int change) {
    __atomic_fetch_add(&bp_process.slot->busy, (uint32_t)change, __ATOMIC_RELAXED);
    return bp_tree_advance(bp_process.tree, now, change);
}

void bp_wall_join(struct bp_thread *thread, uint64_t now) {
    if (!counted() || thread->in_tree)
        return;
    uint64_t nobody = 0;
    int first = __atomic_compare_exchange_n(&bp_process.tree->first_join, &nobody, now, 0,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    struct bp_tree_step done = step(now, 1);
    thread->v_since = done.v;
    thread->idle += first ? 0 : done.idle; /* before the first join: the start of the program */
    thread->wait_entry = 0;
    thread->in_tree = 1;
}

void bp_wall_part(struct bp_thread *thread, uint64_t now) {
    if (!counted() || !thread->in_tree)
        return;
    if (!thread->wait_entry)
        thread->v += step(now, -1).v - thread->v_since;
    thread->wait_entry = 0;
    thread->in_tree = 0;
}

void bp_wall_wait(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    if (!counted() || !thread->in_tree || thread->wait_entry)
        return;
    thread->wait_entry = (uint64_t)entry;
    thread->v += step(now, -1).v - thread->v_since;
}

/* Nothing is changed. A reading between two halves of a change shows by its time. */
uint64_t bp_wall_share(const struct bp_thread *thread, uint64_t now) {
    uint64_t idle, time_n;
    struct bp_tree_word word;
    if (!counted() || !thread->in_tree || thread->wait_entry)
        return thread->v;
    do {
        time_n = __atomic_load_n(&bp_process.tree->word.time_n, __ATOMIC_ACQUIRE);
        word.v = __atomic_load_n(&bp_process.tree->word.v, __ATOMIC_ACQUIRE);
        word.time_n = __atomic_load_n(&bp_process.tree->word.time_n, __ATOMIC_ACQUIRE);
    } while (word.time_n != time_n);
    return thread->v + bp_tree_at(word, bp_process.tree->start, now, &idle).v - thread->v_since;
}

void bp_wall_resume(struct bp_thread *thread, uint64_t now) {
    if (!counted() || !thread->in_tree || !thread->wait_entry)
        return;
    struct bp_tree_step done = step(now, 1);
    thread->v_since = done.v;
    thread->idle += done.idle;
    thread->wait_entry = 0;
}
