/* SPDX-License-Identifier: MIT */
#include "interpose/ledger/timer.h"

#include "interpose/ledger/pause.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

struct bp_sampling bp_sampling;

static struct bp_local *local_of(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

/* The first thread's takes no system call, and no mapping that each fork would copy. */
static struct bp_sampled first_sampled;
static int first_is_taken;

static struct bp_sampled *new_sampled(void) {
    return __atomic_exchange_n(&first_is_taken, 1, __ATOMIC_RELAXED)
               ? bp_pages_new(sizeof(struct bp_sampled))
               : &first_sampled;
}

static void give_back(struct bp_sampled *sampled) {
    if (sampled == &first_sampled)
        __atomic_store_n(&first_is_taken, 0, __ATOMIC_RELAXED);
    else
        bp_pages_free(sampled, sizeof *sampled);
}

/* A signal handler may have made it meanwhile, by a copy of its own. */
struct bp_sampled *bp_sampled_get(const struct bp_thread *thread) {
    struct bp_local *local = local_of(thread);
    struct bp_sampled *none = NULL;
    if (local->sampled)
        return local->sampled;
    struct bp_sampled *made = new_sampled();
    if (made && !__atomic_compare_exchange_n(&local->sampled, &none, made, 0, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
        give_back(made);
    return local->sampled;
}

/* One that was seen from its beginning: it has no alternate stack yet. */
static int is_new(const struct bp_thread *thread) {
    return !thread->late && thread->tid != bp_process.pid;
}

/* A thread that has an alternate stack keeps it. When a thread ends its own stays: its memory is
 * another thread's when the kernel has forgotten this one (segment.c). */
static void set_stack(const struct bp_thread *thread, struct bp_sampled *sampled) {
    stack_t stack = {.ss_flags = 0};
    if (!is_new(thread) &&
        (BP_SYS2(SYS_sigaltstack, NULL, &stack) < 0 || !(stack.ss_flags & SS_DISABLE)))
        return;
    stack = (stack_t){.ss_sp = sampled->signal_stack, .ss_size = BP_SIGNAL_STACK};
    BP_SYS2(SYS_sigaltstack, &stack, NULL);
}

static void note_failure(long error) {
    struct bp_sampler *record = bp_sampling.record;
    __atomic_fetch_add(&record->threads_failed, 1, __ATOMIC_RELAXED);
    if (!record->timer_errno)
        record->timer_errno = (uint32_t)-error;
}

/* A timer on this clock, for a thread; -1 without one. */
static int create(clockid_t clock, int32_t tid, void *value) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = bp_sampling.signal};
    event.sigev_value.sival_ptr = value;
    event._sigev_un._tid = tid;
    int timer;
    long error = BP_SYS3(SYS_timer_create, clock, &event, &timer);
    if (error < 0)
        note_failure(error);
    return error < 0 ? -1 : timer;
}

static struct timespec period(void) {
    uint64_t ns = bp_sampling.period && !bp_pause_is_on() ? bp_sampling.period : BP_TICK_NS;
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void set_period(int timer) {
    struct itimerspec times = {period(), period()};
    BP_SYS4(SYS_timer_settime, timer, 0, &times, NULL);
}

static void start(struct bp_thread *thread, struct bp_sampled *sampled) {
    int timer = create(CLOCK_THREAD_CPUTIME_ID, thread->tid, &bp_sampling);
    if (timer < 0)
        return;
    set_period(timer);
    __atomic_store_n(&sampled->timer, timer + 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&bp_sampling.signal, __ATOMIC_SEQ_CST))
        bp_timer_end(thread); /* bp_timer_stop_all did not see it */
}

void bp_timer_begin(struct bp_thread *thread) {
    if (!bp_sampling.signal)
        return;
    struct bp_sampled *sampled = bp_sampled_get(thread);
    if (!sampled) {
        note_failure(-ENOMEM);
        return;
    }
    sampled->cpu = 0;
    set_stack(thread, sampled);
    start(thread, sampled);
}

/* The CPU clock of another thread, as the kernel numbers them. */
static clockid_t cpu_clock_of(int32_t tid) {
    return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

void bp_timer_call(int32_t tid) {
    struct itimerspec once = {.it_value = period()};
    int timer = create(cpu_clock_of(tid), tid, BP_SAMPLING_CALL);
    if (timer >= 0)
        BP_SYS4(SYS_timer_settime, timer, 0, &once, NULL);
}

static void delete_timer(struct bp_sampled *sampled) {
    int timer = sampled ? __atomic_exchange_n(&sampled->timer, 0, __ATOMIC_SEQ_CST) : 0;
    if (timer)
        BP_SYS1(SYS_timer_delete, timer - 1);
}

void bp_timer_end(struct bp_thread *thread) {
    delete_timer(local_of(thread)->sampled);
}

void bp_timer_after_fork(struct bp_thread *thread) {
    if (local_of(thread)->sampled)
        local_of(thread)->sampled->timer = 0;
    bp_timer_begin(thread);
}

static void switch_timer(struct bp_sampled *sampled) {
    int timer = sampled ? __atomic_load_n(&sampled->timer, __ATOMIC_SEQ_CST) : 0;
    if (timer)
        set_period(timer - 1);
}

static void for_all(void (*what)(struct bp_sampled *sampled)) {
    uint64_t mask = bp_lock(&bp_process.lock);
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = (struct bp_chunk *)c->links[0]) {
        struct bp_thread *threads = bp_chunk_items(c);
        for (uint32_t i = 0; c->kind == BP_THREADS && i < c->count; i++)
            if (threads[i].local) /* a forked child has items of its parent's threads: zeros */
                what(local_of(&threads[i])->sampled);
    }
    bp_unlock(&bp_process.lock, mask);
}

void bp_timer_switch_all(void) {
    if (bp_sampling.signal)
        for_all(switch_timer);
}

void bp_timer_stop_all(void) {
    __atomic_store_n(&bp_sampling.signal, 0, __ATOMIC_SEQ_CST);
    for_all(delete_timer);
}
