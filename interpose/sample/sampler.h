/* SPDX-License-Identifier: MIT
 *
 * Sampling as a whole: it is asked for, starts with the process, and yields to a program that needs
 * its signal. What happened to it is in the file's bp_sampler.
 */
#ifndef BP_INTERPOSE_SAMPLE_SAMPLER_H
#define BP_INTERPOSE_SAMPLE_SAMPLER_H

#include <signal.h>

#include "interpose/ledger/timer.h"

/* `rate` is the value of BATTPROF_SAMPLE, samples per second of a thread's CPU time;
 * "0" for none. Before the first thread begins. With `ticks` its signal comes without samples, too.
 * 1 if there is one. */
int bp_sampler_init(const char *rate, int ticks);

/* At slow moments: libraries came. */
void bp_sampler_look(void);

/* The program needs the signal: never again. */
void bp_sampler_stop(const char *reason);

/* At the end of the process: note whether the signal was still ours. */
void bp_sampler_finish(void);

/* In a forked child that has moved out, while the process lock is held. */
void bp_sampler_after_fork_child(void);

/* For the record: one more of something. */
static inline void bp_sampler_count(uint64_t *counter) {
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* handler.c */
void bp_handler_take(int number, siginfo_t *info, void *context);

#endif
