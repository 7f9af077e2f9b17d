/* SPDX-License-Identifier: MIT
 *
 * A timer on the CPU time of every thread: it fires only while the thread runs, so a thread that
 * waits is never woken. Called from the ledger when threads begin and end, also below stubs: built
 * without vector registers and libc, as thread.c.
 */
#ifndef BP_INTERPOSE_LEDGER_TIMER_H
#define BP_INTERPOSE_LEDGER_TIMER_H

#include "interpose/ledger/thread.h"

struct bp_sampling {
    int32_t signal; /* 0: threads are not sampled */
    uint32_t unused;
    uint64_t period;           /* ns of CPU time between samples; 0: ticks alone, for switch.h */
    struct bp_sampler *record; /* in the file, once bp_sampler_init was called */
    void (*tick)(uint64_t pc); /* each tick, before a sample; NULL: nobody asks */
};

/* Between ticks without samples: they tell of a start. 50 of 2 to 26 us (a virtual machine) in a
 * second of CPU time are at most 0.13 % of it. */
#define BP_TICK_NS 20000000u

/* Room for a signal frame (up to 3.5 kB with AVX-512) and the handler, which might not fit what is
 * left of a coroutine's stack. The rest of struct bp_sampled makes it 64 kB. */
#define BP_SIGNAL_STACK ((64u << 10) - 64)

/* What sampling has of a thread. It stays when the thread ends, for the next one on this segment.
 */
struct bp_sampled {
    char signal_stack[BP_SIGNAL_STACK]; /* unless the thread has an alternate stack of its own */
    struct bp_sample_stack *stack;      /* sample/stack.h; made by the first sample */
    uint64_t busy; /* where `stack` is in use: an address on a stack; 0: nowhere */
    uint64_t cpu;  /* CPU time of the thread at its last sample, ns */
    int32_t timer; /* its number + 1; 0: none */
};
_Static_assert(sizeof(struct bp_sampled) <= 64u << 10, "sampled: 16 pages");

/* bp_sampled.busy, if what used the stack will not go on: it was unwound, or its thread ended. */
#define BP_SAMPLED_LEFT 1

/* The thread's, made if it has none; NULL without memory. */
struct bp_sampled *bp_sampled_get(const struct bp_thread *thread);

/* Its address is the value that our signals carry. */
extern struct bp_sampling bp_sampling __attribute__((visibility("hidden")));

/* The calling thread's timer begins or ends; its signals are blocked. */
void bp_timer_begin(struct bp_thread *thread);
void bp_timer_end(struct bp_thread *thread);

/* Have the thread, another one that the ledger does not know, get one signal of ours when it has
 * used its CPU for a moment; its value is BP_SAMPLING_CALL. */
#define BP_SAMPLING_CALL ((void *)&bp_sampling.record)
void bp_timer_call(int32_t tid);

/* In a forked child, which has none of its parent's timers. */
void bp_timer_after_fork(struct bp_thread *thread);

/* Recording stops or starts, and with it the rate of all threads' ticks; any thread may call it. */
void bp_timer_switch_all(void);

/* From now on no thread gets a signal of ours, bp_timer_call's apart; any thread may call it. */
void bp_timer_stop_all(void);

#endif
