/* SPDX-License-Identifier: MIT */
#include "interpose/sample/sampler.h"

#include <signal.h>

#include "interpose/sample/action.h"
#include "interpose/sample/stack.h"

#define HIGHEST_RATE 10000
#define LOWEST_SIGNAL 35 /* glibc keeps the first real-time signals for itself */
#define HIGHEST_SIGNAL 64

static uint32_t parse_rate(const char *text) {
    uint32_t rate = 0;
    for (; *text >= '0' && *text <= '9' && rate < HIGHEST_RATE; text++)
        rate = 10 * rate + (uint32_t)(*text - '0');
    return rate > HIGHEST_RATE ? HIGHEST_RATE : rate;
}

/* What stands in for a record that finds no memory. */
static struct bp_sampler spare;

static struct bp_sampler *make_record(void) {
    struct bp_chunk *chunk = bp_writer_chunk(&bp_process.writer, BP_SAMPLER, BP_NO_THREAD, 0, 1);
    if (!chunk)
        return &spare;
    chunk->count = 1;
    return bp_chunk_items(chunk);
}

/* For the record: what went wrong first. */
static void note(const char *reason) {
    struct bp_sampler *record = bp_sampling.record;
    size_t used = 0;
    if (*record->reason)
        return;
    for (; reason[used] && used + 1 < sizeof record->reason; used++)
        record->reason[used] = reason[used];
    record->reason[used] = '\0';
}

/* One that nobody handles, ignores or blocks; from the top, where programs begin last. */
static int choose_signal(void) {
    uint64_t blocked = 0;
    BP_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, BP_KERNEL_SIGSET);
    for (int number = HIGHEST_SIGNAL; number >= LOWEST_SIGNAL; number--)
        if (!(blocked >> (number - 1) & 1) && bp_action_get(number) == 0)
            return number;
    return 0;
}

static void start(uint32_t rate) {
    struct bp_sampler *record = bp_sampling.record;
    int number = choose_signal();
    record->rate = rate;
    bp_sampling.period = rate ? 1000000000u / rate : 0;
    if (!number || bp_action_set(number, bp_handler_take) != 0) {
        note("the program uses or blocks all real-time signals");
        return;
    }
    record->signal = (uint32_t)number;
    record->state = rate ? BP_SAMPLER_ON : BP_SAMPLER_OFF;
    record->flags = rate ? BP_SAMPLER_NATIVE : 0;
    bp_sampling.signal = number;
    bp_process.look = bp_stack_look;
}

int bp_sampler_init(const char *text, int ticks) {
    uint32_t rate = parse_rate(text);
    uint64_t mask = bp_lock(&bp_process.lock);
    bp_sampling.record = make_record();
    bp_unlock(&bp_process.lock, mask);
    if (rate || ticks)
        start(rate);
    return bp_sampling.signal != 0;
}

void bp_sampler_look(void) {
    const char *reason;
    int found = bp_py_stack_find(&reason);
    if (found > 0)
        __atomic_fetch_or(&bp_sampling.record->flags, BP_SAMPLER_PYTHON, __ATOMIC_RELAXED);
    else if (found < 0)
        note(reason);
}

void bp_sampler_stop(const char *reason) {
    if (!bp_sampling.signal)
        return;
    bp_timer_stop_all();
    bp_sampling.record->state = BP_SAMPLER_STOPPED;
    note(reason);
}

void bp_sampler_finish(void) {
    int number = bp_sampling.signal;
    if (number && bp_action_get(number) != (uint64_t)bp_handler_take)
        bp_sampler_stop("the program took the signal of sampling by a system call of its own");
}

/* The child's file begins without samples; what is on or off, and why, stays. */
static void renew_record(void) {
    struct bp_sampler *record = bp_sampling.record, before = *record;
    *record = (struct bp_sampler){
        .state = before.state, .flags = before.flags, .rate = before.rate, .signal = before.signal};
    note(before.reason);
}

void bp_sampler_after_fork_child(void) {
    renew_record();
    if (bp_self) {
        bp_stack_after_fork(bp_self);
        bp_timer_after_fork(bp_self);
    }
}
