/* SPDX-License-Identifier: MIT
 *
 * The process-wide lock for what is rare: new functions, chunks, threads. Signals are blocked while
 * it is held, so that a handler which calls hooked functions cannot wait for itself. Never on the
 * path of a known call.
 *
 * A forked child has one thread. A lock that another thread of the parent held at the fork is
 * nobody's there: the word tells in which process it was taken, and a child takes it over.
 */
#ifndef BP_INTERPOSE_LEDGER_LOCK_H
#define BP_INTERPOSE_LEDGER_LOCK_H

#include <linux/futex.h>
#include <signal.h>

#include "profile/sys.h"

#define BP_KERNEL_SIGSET 8 /* bytes of the kernel's signal set */

/* glibc's own. setuid and its like send the second to every thread and wait until each has
 * answered, for ever if one has it blocked. The first ends threads: not while they hold a lock of
 * ours. */
#define BP_SIGNAL_CANCEL (UINT64_C(1) << (32 - 1))
#define BP_SIGNAL_SETXID (UINT64_C(1) << (33 - 1))

#define BP_LOCK_HELD 1u   /* nobody waits */
#define BP_LOCK_WAITED 2u /* held, and waited for */
#define BP_LOCK_STATE 3u

struct bp_lock {
    uint32_t word; /* 0: free; else generation << 2 and one of the above */
};

/* Processes from the first of the tree to this one, each forked by the one before, + 1. */
extern uint32_t bp_generation __attribute__((visibility("hidden")));

/* 1 in a page that the kernel clears in every forked child; our fork handlers set it again. */
extern uint32_t *bp_alive __attribute__((visibility("hidden")));

/* A forked process in which no handler of ours ran (a bare system call). The file that is mapped
 * here is the parent's: nothing of ours may be written, and no lock waited for. */
static inline int bp_orphaned(void) {
    return !__atomic_load_n(bp_alive, __ATOMIC_RELAXED);
}

/* While the constructor of a process with one thread has them blocked: 60 pairs of system calls are
 * not made. */
extern int bp_signals_held __attribute__((visibility("hidden")));

#define BP_SIGNALS_HELD (~UINT64_C(0)) /* no mask: SIGKILL is never blocked */

static inline uint64_t bp_signals_block(void) {
    if (bp_signals_held)
        return BP_SIGNALS_HELD;
    uint64_t all = ~BP_SIGNAL_SETXID, before = 0;
    BP_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, BP_KERNEL_SIGSET);
    return before;
}

static inline void bp_signals_restore(uint64_t before) {
    if (before == BP_SIGNALS_HELD)
        return;
    BP_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, BP_KERNEL_SIGSET);
}

static inline int bp_lock_try(struct bp_lock *lock, uint32_t seen, uint32_t state) {
    return __atomic_compare_exchange_n(&lock->word, &seen, bp_generation << 2 | state, 0,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* For whoever has signals blocked, by another lock or by itself. */
static inline void bp_lock_inner(struct bp_lock *lock) {
    if (bp_lock_try(lock, 0, BP_LOCK_HELD))
        return;
    while (!bp_orphaned()) {
        uint32_t seen = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
        int taken = seen >> 2 == bp_generation;
        if (!taken && bp_lock_try(lock, seen, BP_LOCK_WAITED))
            return;
        if (taken &&
            ((seen & BP_LOCK_STATE) == BP_LOCK_WAITED || bp_lock_try(lock, seen, BP_LOCK_WAITED)))
            BP_SYS4(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, bp_generation << 2 | BP_LOCK_WAITED,
                    NULL);
    }
}

static inline void bp_unlock_inner(struct bp_lock *lock) {
    if ((__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) & BP_LOCK_STATE) == BP_LOCK_WAITED)
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
