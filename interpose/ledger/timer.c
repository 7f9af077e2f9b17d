/* SPDX-License-Identifier: MIT */
#include "interpose/sample/timer.h"

#include <signal.h>
#include <time.h>

/* Ours, because a signal frame (up to 3.5 kB with AVX-512) and the handler might not fit what is
 * left of a coroutine's stack. A thread that has an alternate stack keeps it. */
#define SIGNAL_STACK (64u << 10)

struct bp_sampling bp_sampling;

static struct bp_local *local_of(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

static void set_stack(struct bp_local *local) {
    stack_t stack = {.ss_flags = 0};
    if (BP_SYS2(SYS_sigaltstack, NULL, &stack) < 0 || !(stack.ss_flags & SS_DISABLE))
        return;
    if (!local->signal_stack)
        local->signal_stack = bp_pages_new(SIGNAL_STACK);
    if (!local->signal_stack)
        return;
    stack = (stack_t){.ss_sp = local->signal_stack, .ss_size = SIGNAL_STACK};
    BP_SYS2(SYS_sigaltstack, &stack, NULL);
}

static void remove_stack(const struct bp_local *local) {
    stack_t stack = {.ss_flags = 0};
    if (!local->signal_stack || BP_SYS2(SYS_sigaltstack, NULL, &stack) < 0 ||
        stack.ss_sp != local->signal_stack)
        return;
    stack = (stack_t){.ss_flags = SS_DISABLE};
    BP_SYS2(SYS_sigaltstack, &stack, NULL);
}

static void note_failure(long error) {
    struct bp_sampler *record = bp_sampling.record;
    __atomic_fetch_add(&record->threads_failed, 1, __ATOMIC_RELAXED);
    if (!record->timer_errno)
        record->timer_errno = (uint32_t)-error;
}

static void start(struct bp_thread *thread) {
    struct bp_local *local = local_of(thread);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = bp_sampling.signal};
    event.sigev_value.sival_ptr = &bp_sampling;
    event._sigev_un._tid = (int)BP_SYS0(SYS_gettid);
    int timer;
    long error = BP_SYS3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer);
    if (error < 0) {
        note_failure(error);
        return;
    }
    struct timespec period = {(time_t)(bp_sampling.period / 1000000000u),
                              (long)(bp_sampling.period % 1000000000u)};
    struct itimerspec times = {period, period};
    BP_SYS4(SYS_timer_settime, timer, 0, &times, NULL);
    __atomic_store_n(&local->timer, timer + 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&bp_sampling.signal, __ATOMIC_SEQ_CST))
        bp_timer_end(thread); /* bp_timer_stop_all did not see it */
}

void bp_timer_begin(struct bp_thread *thread) {
    if (!bp_sampling.signal)
        return;
    local_of(thread)->sampled_cpu = 0;
    set_stack(local_of(thread));
    start(thread);
}

static void delete_timer(struct bp_local *local) {
    int timer = __atomic_exchange_n(&local->timer, 0, __ATOMIC_SEQ_CST);
    if (timer)
        BP_SYS1(SYS_timer_delete, timer - 1);
}

void bp_timer_end(struct bp_thread *thread) {
    delete_timer(local_of(thread));
    remove_stack(local_of(thread));
}

void bp_timer_after_fork(struct bp_thread *thread) {
    local_of(thread)->timer = 0;
    bp_timer_begin(thread);
}

void bp_timer_stop_all(void) {
    __atomic_store_n(&bp_sampling.signal, 0, __ATOMIC_SEQ_CST);
    uint64_t mask = bp_lock(&bp_process.lock);
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0]) {
        struct bp_thread *threads = bp_chunk_items(c);
        for (uint32_t i = 0; c->kind == BP_THREADS && i < c->count; i++)
            delete_timer(local_of(&threads[i]));
    }
    bp_unlock(&bp_process.lock, mask);
}
