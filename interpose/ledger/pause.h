/* SPDX-License-Identifier: MIT
 *
 * Pauses of the recording, as the ledger sees them. While the process is paused the clock of the
 * ledger stands still: no call is opened, and one that was open and returns ends at the instant of
 * the stop. What a thread missed is taken out of its open calls by its own next slow way, so it
 * remains the only one that writes its segment.
 *
 * To make the next way the slow one, whoever stops or starts draws a curtain before the innermost
 * call of each thread: an entry at address 0 of the stack, below which no stub opens a call by
 * itself, and which no returning call is. The path of a known call has no test for it. A stub that
 * is in the middle of its work may put its own entry back: then the curtain is drawn again by the
 * next tick of the thread's timer, or by the next switch, and until then the thread is recorded a
 * little longer. Its sums stay right: it is paused from its last trace on.
 *
 * Built without vector registers and libc, as thread.c.
 */
#ifndef BP_INTERPOSE_LEDGER_PAUSE_H
#define BP_INTERPOSE_LEDGER_PAUSE_H

#include "interpose/ledger/thread.h"

/* Counts starts and stops; odd while the process is paused. */
extern uint32_t bp_pause_number __attribute__((visibility("hidden")));

/* Held while the state changes, and over a fork; before the hooks' and the process's. */
extern struct bp_lock bp_pause_lock __attribute__((visibility("hidden")));

static inline int bp_pause_is_on(void) {
    return __atomic_load_n(&bp_pause_number, __ATOMIC_ACQUIRE) & 1;
}

/* Stops or starts the ledger of the process, at `now`. By one thread at a time, signals blocked. */
void bp_pause_begin(uint64_t now);
void bp_pause_end(uint64_t now);

/* Draws the curtain of a thread again; as above. */
void bp_pause_draw_for(struct bp_thread *thread);

/* Whether a call of a function that `is` says yes to is open in any thread. */
int bp_pause_has_open(int (*is)(uint32_t func, const void *argument), const void *argument);

/* Announces what the time is counted for, before the first pause. */
void bp_pause_init(uint32_t function);

/* Around what the calling thread does to its ledger in C. The first returns the instant at which
 * the ledger stands, 0 if it runs. */
uint64_t bp_pause_settle(struct bp_thread *thread);
void bp_pause_draw(struct bp_thread *thread);

static inline uint64_t bp_pause_enter(struct bp_thread *thread) {
    uint32_t number = __atomic_load_n(&bp_pause_number, __ATOMIC_ACQUIRE);
    const struct bp_local *local = (const struct bp_local *)thread->local;
    return __builtin_expect(number == local->pause_number && !(number & 1), 1)
               ? 0
               : bp_pause_settle(thread);
}

static inline void bp_pause_leave(struct bp_thread *thread) {
    uint32_t number = __atomic_load_n(&bp_pause_number, __ATOMIC_ACQUIRE);
    const struct bp_local *local = (const struct bp_local *)thread->local;
    if (__builtin_expect(number != local->pause_number || number & 1, 0))
        bp_pause_draw(thread);
    else if (__builtin_expect(bp_thread_is_curtain(thread, thread->current), 0))
        thread->current = (uint64_t)bp_thread_innermost(thread);
}

/* A thread begins, or ends, at `now`. */
void bp_pause_thread_begin(struct bp_thread *thread, uint64_t now);
void bp_pause_thread_end(struct bp_thread *thread, uint64_t now);

/* A forked child begins. */
void bp_pause_after_fork(uint64_t now);

/* For wall.c: a busy stretch of a thread begins or ends, where tree.v is `v`. */
void bp_pause_busy(struct bp_thread *thread, uint64_t v, int ends);

/* The part of an idle time of the tree, which ended at `now`, that was in no pause. */
uint64_t bp_pause_idle(uint64_t idle, uint64_t now);

#endif
