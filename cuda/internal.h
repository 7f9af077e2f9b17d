/* SPDX-License-Identifier: MIT
 *
 * The collector as a whole (collector.c): its state, its lock, and whether it works.
 */
#ifndef BP_CUDA_INTERNAL_H
#define BP_CUDA_INTERNAL_H

#include "cuda/thread.h"
#include "interpose/hook/source.h"

struct bp_cuda {
    struct bp_lock lock;
    uint32_t mode; /* enum bp_collector_mode */
    uint32_t hash;
    uint32_t active;    /* CUPTI runs, in process `pid` */
    uint32_t host_only; /* it does not: copies are timed by their calls */
    uint32_t capturing; /* streams that are recorded into graphs, by whichever threads */
    uint32_t taken;     /* CUPTI's callbacks are the program's */
    int32_t pid;
    struct bp_cuda_thread *threads;
    uint64_t started; /* ticks */
    uint64_t ticks_per_s;
};
extern struct bp_cuda bp_cuda;
/* What is wrong, the first time; more is counted elsewhere. */
void bp_cuda_reason(uint32_t state, uint32_t flags, const char *reason);
/* The process has a CUDA library. */
void bp_cuda_note_found(void);
/* Starts CUPTI, the first time: then 1. */
int bp_cuda_start_once(void);
/* Before a call, where nothing is held: until another thread has done so. */
void bp_cuda_await_start(void);
/* Records that nobody else has asked for need not be made any more; `kinds` has a bit of each. */
void bp_cuda_disable_but(uint64_t kinds);
/* Whether there is anything to tell of calls in this process. */
int bp_cuda_is_collecting(void);

#endif
