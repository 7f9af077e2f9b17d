/* SPDX-License-Identifier: MIT
 *
 * Our one thread in the target, there only while CUPTI works: every 10 to 250 ms, or when
 * somebody's queue fills up, it asks CUPTI for its records and attributes what is complete. It is
 * not one of the profile's threads, takes no signals but glibc's own, and a flush that hangs in the
 * driver holds up nothing else: the target's exit waits for it for two seconds.
 */
#include "cuda/flush.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "cuda/cupti/cupti.h"
#include "cuda/cupti/record.h"
#include "cuda/device.h"
#include "cuda/internal.h"
#include "cuda/managed.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/window.h"
#include "interpose/hook/source.h"
#include "profile/clock.h"

/* A worker that is told to end after a second should have lost little, and one that runs for hours
 * should not be flushed all the time: an eighth of its age. To look whether its calls are over
 * takes 3 us: every SHORTEST_NS that is 0.03 %. */
#define SHORTEST_NS 10000000
#define LONGEST_NS 250000000
#define AGE_PART 8
#define IDLE_NS 1000000000 /* between flushes where no work is awaited */
#define EXIT_LIMIT_NS 2000000000
#define UNKNOWN_LIMIT_NS 600000000
#define RUNNING_LIMIT_NS 100000000
#define SUSPICIOUS 16         /* calls that CUPTI should have spoken of, */
#define SILENCE_NS 2000000000 /* and for how long it has not */

static struct {
    uint32_t kicked; /* futex */
    uint32_t asleep;
    uint32_t final;  /* the process ends */
    uint32_t forced; /* and CUPTI is made to tell of what is not over, too */
    uint32_t done;   /* futex: the last flush is over */
    uint32_t finished;
    uint32_t described;
    int32_t tid;
    uint32_t seen;    /* number of the last work when it was looked for */
    uint32_t work;    /* and at the last flush */
    uint64_t flushed; /* when that was, ns */
    uint64_t began;
    uint64_t spoken; /* and when a flush last brought something, or nothing was missing */
    uint64_t records;
} state;

static void wait_for(uint32_t *word, uint32_t value, uint64_t ns) {
    struct timespec limit = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    BP_SYS4(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit);
}

static void wake(uint32_t *word) {
    BP_SYS3(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

void bp_flush_kick(void) {
    if (!__atomic_exchange_n(&state.kicked, 1, __ATOMIC_ACQ_REL) &&
        __atomic_load_n(&state.asleep, __ATOMIC_ACQUIRE))
        wake(&state.kicked);
}

/* Calls have returned and CUPTI has not even spoken of them: somebody else gets its buffers. For a
 * while that may be so: a buffer comes when all in it is over, and may be with CUPTI's thread. */
static void look_for_theft(int last) {
    uint64_t unknown, running;
    struct bp_collector *collector = bp_sums.collector;
    bp_slot_count(&unknown, &running);
    if (unknown == 0 || collector->records != state.records || !state.spoken)
        state.spoken = state.flushed;
    state.records = collector->records;
    int silent = state.flushed - state.spoken >= SILENCE_NS;
    if (unknown < SUSPICIOUS || collector->dropped || (!silent && !last))
        return;
    bp_cuda_reason(BP_COLLECTOR_STOPPED, BP_COLLECTOR_STOLEN,
                   "device records stopped coming: another tool has taken CUPTI's callbacks");
}

static void note_running(void) {
    uint64_t unknown, running;
    char text[128];
    bp_slot_count(&unknown, &running);
    if (running == 0)
        return;
    snprintf(text, sizeof text,
             "%llu pieces of device work had not ended, or had no record, when the process exited",
             (unsigned long long)running);
    bp_cuda_reason(BP_COLLECTOR_ACTIVE, 0, text);
}

static void fold(uint64_t begin, int last, int flushed) {
    uint64_t mask = bp_lock(&bp_cuda.lock);
    bp_cuda_fold(begin, 0);
    if (flushed)
        look_for_theft(last);
    if (last) {
        if (flushed)
            note_running();
        bp_record_finish();
        bp_cuda_fold(begin, 1);
    }
    bp_unlock(&bp_cuda.lock, mask);
}

/* What is still awaited after a flush of the last ones. */
static void flush_and_count(uint32_t forced, uint64_t *unknown, uint64_t *running) {
    __atomic_store_n(&state.forced, forced, __ATOMIC_RELEASE);
    bp_cupti.ActivityFlushAll(forced);
    uint64_t mask = bp_lock(&bp_cuda.lock);
    bp_cuda_fold(0, 0);
    bp_slot_count(unknown, running);
    bp_unlock(&bp_cuda.lock, mask);
}

/* Records may be on their way when the process ends: a short while for what still runs, longer for
 * what CUPTI should know. Only then is CUPTI made to tell of the rest: what it tells before is
 * over, so a record without times says that there are none, not that its work still runs. */
static void flush_last(void) {
    uint64_t unknown, running, begin = bp_clock_ns(CLOCK_MONOTONIC);
    for (uint32_t forced = 0;;) {
        uint32_t nobody = 0;
        uint64_t waited = bp_clock_ns(CLOCK_MONOTONIC) - begin; /* one more flush after a limit */
        flush_and_count(forced, &unknown, &running);
        int enough = (!unknown && !running) || bp_sums.collector->flags & BP_COLLECTOR_STOLEN ||
                     bp_sums.collector->dropped;
        if (forced && (enough || waited > (unknown ? UNKNOWN_LIMIT_NS : RUNNING_LIMIT_NS)))
            return;
        forced |= enough || waited > RUNNING_LIMIT_NS;
        if (!enough)
            wait_for(&nobody, 0, RUNNING_LIMIT_NS / 5);
    }
}

static void flush(int last) {
    state.flushed = bp_clock_ns(CLOCK_MONOTONIC);
    state.work = state.seen = bp_slot_last();
    uint64_t mask = bp_lock(&bp_cuda.lock);
    uint64_t begin = bp_clock_now(bp_process.clock);
    bp_slot_mark();
    bp_unlock(&bp_cuda.lock, mask);
    if (last)
        flush_last();
    else
        bp_cupti.ActivityFlushAll(0);
    if (!state.described && bp_sums.collector->records) {
        state.described = 1;
        bp_device_describe();
        bp_managed_start(0);
    }
    fold(begin, last, 1);
}

static uint64_t pause_ns(uint64_t now) {
    uint64_t part = (now - state.began) / AGE_PART;
    return part < SHORTEST_NS ? SHORTEST_NS : part < LONGEST_NS ? part : LONGEST_NS;
}

/* A pause in the program's calls is a good moment: it may be the last one. Migrations, and what
 * others ask for, come without a call of ours. */
static int is_due(uint64_t now) {
    uint32_t work = bp_slot_last();
    int quiet = work == state.seen;
    uint64_t since = now - state.flushed;
    state.seen = work;
    if (work == state.work && !bp_slot_awaited())
        return since >= IDLE_NS;
    return (quiet && work != state.work) || since >= pause_ns(now);
}

/* 1 if somebody has called. */
static int rest(void) {
    uint64_t now = bp_clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&state.asleep, 1, __ATOMIC_RELEASE);
    if (!__atomic_load_n(&state.kicked, __ATOMIC_ACQUIRE))
        wait_for(&state.kicked, 0, now - state.flushed < IDLE_NS ? SHORTEST_NS : pause_ns(now));
    __atomic_store_n(&state.asleep, 0, __ATOMIC_RELEASE);
    return (int)__atomic_exchange_n(&state.kicked, 0, __ATOMIC_ACQ_REL);
}

static void *run(void *unused) {
    (void)unused;
    bp_signals_restore(~(BP_SIGNAL_CANCEL | BP_SIGNAL_SETXID));
    BP_SYS2(SYS_prctl, PR_SET_NAME, "battprof-cuda");
    state.began = state.flushed = bp_clock_ns(CLOCK_MONOTONIC);
    state.tid = (int32_t)BP_SYS0(SYS_gettid);
    for (int last = 0; !last;) {
        int called = rest();
        last = (int)__atomic_load_n(&state.final, __ATOMIC_ACQUIRE);
        if (last || called || is_due(bp_clock_ns(CLOCK_MONOTONIC)))
            flush(last);
    }
    __atomic_store_n(&state.done, 1, __ATOMIC_RELEASE);
    wake(&state.done);
    return NULL;
}

/* What CUPTI brings by itself, when a buffer is full, is attributed soon, too. */
void bp_flush_brought(void) {
    if (BP_SYS0(SYS_gettid) != state.tid)
        bp_flush_kick();
}

int bp_flush_start(void) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        bp_source_runtime("pthread_create");
    pthread_t thread;
    if (!create)
        return -ENOSYS;
    uint64_t mask = bp_signals_block(); /* the new thread inherits it */
    int error = create(&thread, NULL, run, NULL);
    bp_signals_restore(mask);
    return -error;
}

int bp_flush_is_last(void) {
    return (int)__atomic_load_n(&state.final, __ATOMIC_ACQUIRE);
}

int bp_flush_is_forced(void) {
    return (int)__atomic_load_n(&state.forced, __ATOMIC_ACQUIRE);
}

/* The process ends. Whatever the thread is doing, two seconds is all it gets. */
void bp_flush_finish(void) {
    if (__atomic_exchange_n(&state.finished, 1, __ATOMIC_ACQ_REL))
        return;
    uint64_t limit = bp_clock_ns(CLOCK_MONOTONIC) + EXIT_LIMIT_NS;
    __atomic_store_n(&state.final, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&state.kicked, 1, __ATOMIC_RELEASE);
    wake(&state.kicked);
    for (uint64_t now; !__atomic_load_n(&state.done, __ATOMIC_ACQUIRE);) {
        now = bp_clock_ns(CLOCK_MONOTONIC);
        if (now >= limit)
            break;
        wait_for(&state.done, 0, limit - now);
    }
    if (__atomic_load_n(&state.done, __ATOMIC_ACQUIRE))
        return;
    bp_cuda_reason(BP_COLLECTOR_STOPPED, 0, "CUPTI did not return from a flush");
    fold(bp_clock_now(bp_process.clock), 1, 0);
}
