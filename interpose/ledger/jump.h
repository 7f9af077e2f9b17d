/* SPDX-License-Identifier: MIT
 *
 * Counted calls without an entry. Most calls of a program are of leaves: functions that make no
 * call that is intercepted. Where no call was ever seen from a context, the stub counts and jumps
 * to the target, which returns to its caller. It notes where the return address is, so that a call
 * from within such a function is noticed: it comes from further down the stack while that address
 * is still in its place. Whether the function is really running is then seen by a walk of the
 * stack. If it is, its call is given the entry that it lacks, and nested calls have their true
 * parent. The same is done where a tick of the sampling timer finds the function running, so that
 * samples are its own and a call that takes long has its time.
 *
 * Nobody says when a call that was given an entry so has returned: its stub has nothing to do with
 * it any more. `sp` of that entry is 0, which makes the next stub take the slow way, and there it
 * is looked for again.
 *
 * Built without vector registers and libc, as thread.c.
 */
#ifndef BP_INTERPOSE_LEDGER_JUMP_H
#define BP_INTERPOSE_LEDGER_JUMP_H

#include "interpose/ledger/light.h"

/* Flag of `ret`: an exception was thrown within, and is not caught. If it is found to run no longer
 * it was left. */
#define BP_JUMP_UNWOUND 1u

/* Whether the entry is that of a call that its stub jumped to. */
static inline int bp_jump_is(const struct bp_entry *entry) {
    return entry->sp == 0 && bp_light_is(entry);
}

/* Where the call's return address is, or was, without flags. */
static inline uint64_t bp_jump_place(const struct bp_entry *entry) {
    return (bp_jump_is(entry) ? entry->ret : entry->sp) & ~UINT64_C(7);
}

/* Whether bp_jump_settle has to be asked before a call at `sp` is opened. If not, no tick changes
 * what is innermost until it is: what was jumped to at a place below `sp` has returned. */
static inline int bp_jump_may_run(const struct bp_thread *thread, uint64_t sp) {
    uint64_t jumped = __atomic_load_n(&thread->jumped, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return jumped > sp || bp_jump_is(bp_thread_innermost(thread));
}

/* Stubs jump to the edge's calls from now on, if it may be, or no longer. */
void bp_jump_begin(struct bp_edge *edge);
void bp_jump_end(struct bp_edge *edge);

/* A call at `sp`, from below a stub: what was jumped to and still runs is open, and nothing else
 * that was jumped to is innermost. In a signal handler everything stays as it is: what it has
 * interrupted may be opening or closing a call. */
void bp_jump_settle(struct bp_thread *thread, uint64_t sp);

/* The same before the stack is unwound, at least to `to`: what is open then has BP_JUMP_UNWOUND. */
void bp_jump_settle_unwinding(struct bp_thread *thread, uint64_t sp, uint64_t to);

/* The innermost entry is such a call's, and it returned or, `aborted`, was left. `now`: the latest
 * moment at which that was. */
void bp_jump_close(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, int aborted);

/* Such calls have BP_JUMP_UNWOUND, or 0, as far as they are near the innermost. */
void bp_jump_unwind(struct bp_thread *thread, uint64_t flag);

/* In a forked child: the entry outwards from `entry` whose stub will return. */
struct bp_entry *bp_jump_forget(struct bp_entry *entry);

/* A tick of the sampling timer, with signals blocked: what its walk is to look for; what it found,
 * 0 if another walk has to look for something else; and when the tick is over, so that it is not in
 * the call's time. */
void bp_jump_watch(struct bp_thread *thread);
int bp_jump_met(struct bp_thread *thread);
void bp_jump_tick_over(struct bp_thread *thread);

#endif
