/* SPDX-License-Identifier: MIT
 *
 * The process-wide lock for what is rare: new functions, chunks, threads. Signals are blocked while
 * it is held, so that a handler which calls hooked functions cannot wait for itself. Never on the
 * path of a known call.
 */
#ifndef BP_INTERPOSE_LOCK_H
#define BP_INTERPOSE_LOCK_H

#include <linux/futex.h>
#include <signal.h>

#include "profile/sys.h"

#define BP_KERNEL_SIGSET 8 /* bytes of the kernel's signal set */

/* glibc's own. setuid and its like send the second to every thread and wait until each has
 * answered, for ever if one has it blocked. The first ends threads: not while they hold a lock of
 * ours. */
#define BP_SIGNAL_CANCEL (UINT64_C(1) << (32 - 1))
#define BP_SIGNAL_SETXID (UINT64_C(1) << (33 - 1))

struct bp_lock {
    uint32_t word; /* 0 free, 1 held, 2 held and waited for */
};

static inline uint64_t bp_signals_block(void) {
    uint64_t all = ~BP_SIGNAL_SETXID, before = 0;
    BP_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, BP_KERNEL_SIGSET);
    return before;
}

static inline void bp_signals_restore(uint64_t before) {
    BP_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, BP_KERNEL_SIGSET);
}

/* For who holds another lock, so that signals are blocked. */
static inline void bp_lock_inner(struct bp_lock *lock) {
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&lock->word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE))
        BP_SYS4(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static inline void bp_unlock_inner(struct bp_lock *lock) {
    if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
        BP_SYS3(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1);
}

/* Returns the signal mask to give back to bp_unlock. */
static inline uint64_t bp_lock(struct bp_lock *lock) {
    uint64_t mask = bp_signals_block();
    bp_lock_inner(lock);
    return mask;
}

static inline void bp_unlock(struct bp_lock *lock, uint64_t mask) {
    bp_unlock_inner(lock);
    bp_signals_restore(mask);
}

#endif
