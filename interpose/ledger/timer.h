/* SPDX-License-Identifier: MIT
 *
 * A timer on the CPU time of every thread: it fires only while the thread runs, so a thread that
 * waits is never woken. Called from the ledger when threads begin and end, also below stubs: built
 * without vector registers and libc, as thread.c.
 */
#ifndef BP_INTERPOSE_SAMPLE_TIMER_H
#define BP_INTERPOSE_SAMPLE_TIMER_H

#include "interpose/thread.h"

struct bp_sampling {
    int32_t signal; /* 0: threads are not sampled */
    uint32_t unused;
    uint64_t period;           /* ns of CPU time */
    struct bp_sampler *record; /* in the file, once bp_sampler_init was called */
};

/* Its address is the value that our signals carry. */
extern struct bp_sampling bp_sampling __attribute__((visibility("hidden")));

/* Of the calling thread, signals blocked. */
void bp_timer_begin(struct bp_thread *thread);
void bp_timer_end(struct bp_thread *thread);

/* In a forked child, which has none of its parent's timers. */
void bp_timer_after_fork(struct bp_thread *thread);

/* Of all threads, by any: from now on no signal of ours comes. */
void bp_timer_stop_all(void);

#endif
