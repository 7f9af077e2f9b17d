/* SPDX-License-Identifier: MIT
 *
 * A thread's part of the wall (docs/internals/ledger.md, "wall split"): it joins the tree's page
 * while it is busy and leaves it while it waits. Built without vector registers, as thread.c.
 */
#include "interpose/ledger/pause.h"
#include "profile/clock.h"
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
    if (!first) /* before the first join: the start of the program */
        thread->idle += bp_pause_idle(done.idle, now);
    bp_pause_busy(thread, done.v, 0);
    thread->wait_entry = 0;
    thread->in_tree = 1;
}

static void end_busy(struct bp_thread *thread, uint64_t now) {
    uint64_t v = step(now, -1).v;
    thread->v += v - thread->v_since;
    bp_pause_busy(thread, v, 1);
}

void bp_wall_part(struct bp_thread *thread, uint64_t now) {
    if (!counted() || !thread->in_tree)
        return;
    if (!thread->wait_entry)
        end_busy(thread, now);
    thread->wait_entry = 0;
    thread->in_tree = 0;
}

void bp_wall_wait(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    if (!counted() || !thread->in_tree || thread->wait_entry)
        return;
    thread->wait_entry = (uint64_t)entry;
    end_busy(thread, now);
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
    thread->idle += bp_pause_idle(done.idle, now);
    bp_pause_busy(thread, done.v, 0);
    thread->wait_entry = 0;
}

static void move_since(uint64_t by) {
    uint64_t mask = bp_lock(&bp_process.lock);
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0]) {
        struct bp_thread *threads = bp_chunk_items(c);
        for (uint32_t i = 0; c->kind == BP_THREADS && i < c->count; i++)
            if (threads[i].in_tree && !threads[i].wait_entry)
                threads[i].v_since += by;
    }
    bp_unlock(&bp_process.lock, mask);
}

/* An exec failed, for which the process had left the page at `left_v`. The wall since then is of
 * those who stayed; if nobody did, of the thread that called exec. Until `tree_off` is zero again
 * no thread of ours changes the page. */
void bp_wall_come_back(uint64_t left_v, uint32_t busy) {
    bp_process.slot->busy = busy;
    struct bp_tree_step done =
        bp_tree_advance(bp_process.tree, bp_clock_now(bp_process.clock), (int)busy);
    move_since(done.v - left_v);
    if (bp_self)
        bp_self->v += done.idle << BP_TREE_V_SHIFT;
}
