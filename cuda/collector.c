/* SPDX-License-Identifier: MIT
 *
 * How the collector starts, late if it must, why it could not, and how it ends. What it does in
 * between is in calls.c, flush.c and cupti/.
 */
#include "cuda/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/cupti/abi.h"
#include "cuda/cupti/buffer.h"
#include "cuda/cupti/cupti.h"
#include "cuda/cupti/record.h"
#include "cuda/device.h"
#include "cuda/flush.h"
#include "cuda/internal.h"
#include "cuda/managed.h"
#include "cuda/sums.h"
#include "cuda/window.h"
#include "profile/clock.h"

#define PERIOD_MS 1000
#define LOOKS 64 /* calls, 1 us each */
/* Ten times what opening libcupti takes, and an end where who starts waits for what is held here:
 * the loader's lock, if a constructor calls CUDA. */
#define START_LIMIT_NS 50000000
#define NOT_ASKED_FOR "device records were not asked for (--cuda=wrappers)"

struct bp_cuda bp_cuda;

static struct {
    int32_t starting;   /* in which process somebody has begun to start CUPTI */
    uint32_t started;   /* futex: and is done with it */
    uint32_t no_driver; /* and found none */
    uint32_t looks;     /* for one, since */
    int32_t pid;        /* whose collector item it is */
} state;

/* Sets the collector's item up where this process has none yet. */
static struct bp_collector *collector_get(void) {
    if (bp_sums.collector && state.pid == bp_process.pid)
        return bp_sums.collector;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = bp_writer_chunk(&bp_process.writer, BP_COLLECTOR, BP_NO_THREAD, 0, 1);
    if (chunk) {
        struct bp_collector *collector = bp_chunk_items(chunk);
        collector->mode = bp_cuda.mode;
        collector->state = BP_COLLECTOR_WAITING;
        chunk->count = 1;
        state.pid = bp_process.pid;
        __atomic_store_n(&bp_sums.collector, collector, __ATOMIC_RELEASE);
    }
    bp_unlock(&bp_process.lock, mask);
    return chunk ? bp_sums.collector : NULL;
}

void bp_cuda_reason(uint32_t what, uint32_t flags, const char *reason) {
    struct bp_collector *collector = collector_get();
    if (!collector)
        return;
    if (!collector->reason[0])
        snprintf(collector->reason, sizeof collector->reason, "%s", reason);
    collector->flags |= flags;
    if (what != BP_COLLECTOR_ACTIVE || collector->state != BP_COLLECTOR_STOPPED)
        collector->state = what;
    bp_cuda.host_only = what == BP_COLLECTOR_HOST && bp_cuda.pid == bp_process.pid;
}

void bp_cuda_note_found(void) {
    if (bp_sums.collector && state.pid == bp_process.pid)
        return;
    collector_get();
    if (bp_cuda.mode == BP_CUDA_WRAPPERS)
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, NOT_ASKED_FOR);
}

/* Each is optional; without the first there is nothing to say about devices. */
static const struct {
    uint32_t kind;
    uint32_t mode; /* the least */
    const char *name;
} kinds[] = {
    {BP_CUPTI_MEMCPY, BP_CUDA_TRANSFERS, "copies"},
    {BP_CUPTI_EXTERNAL_CORRELATION, BP_CUDA_TRANSFERS, "correlation"},
    {BP_CUPTI_RUNTIME, BP_CUDA_TRANSFERS, "runtime calls"},
    {BP_CUPTI_DRIVER, BP_CUDA_TRANSFERS, "driver calls"},
    {BP_CUPTI_MEMCPY2, BP_CUDA_TRANSFERS, "copies between devices"},
    {BP_CUPTI_MEMSET, BP_CUDA_TRANSFERS, "memset"},
    {BP_CUPTI_CONCURRENT_KERNEL, BP_CUDA_FULL, "kernels"},
    {BP_CUPTI_SYNCHRONIZATION, BP_CUDA_FULL, "synchronisation"},
    {BP_CUPTI_OVERHEAD, BP_CUDA_FULL, "overhead"},
    {BP_CUPTI_MEMORY2, BP_CUDA_FULL, "allocation"},
};

static void say_refused(int error) {
    char text[160];
    if (error == BP_CUPTI_INSUFFICIENT_PRIVILEGES ||
        error == BP_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
        snprintf(text, sizeof text,
                 "insufficient privileges (CUPTI error %d; the administrator can allow them: "
                 "NVreg_RestrictProfilingToAdminUsers=0)",
                 error);
    else if (!bp_device_has_driver())
        snprintf(text, sizeof text, "no CUDA driver");
    else
        snprintf(text, sizeof text, "CUPTI refused to record (error %d)", error);
    bp_cuda_reason(BP_COLLECTOR_HOST, 0, text);
}

static int enable_kinds(void) {
    char text[96];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int error = bp_cuda.mode >= kinds[i].mode ? bp_cupti.ActivityEnable(kinds[i].kind) : 0;
        if (error == BP_CUPTI_SUCCESS)
            continue;
        if (i == 0)
            return error;
        snprintf(text, sizeof text, "CUPTI does not record %s (error %d)", kinds[i].name, error);
        bp_cuda_reason(BP_COLLECTOR_ACTIVE, 0, text);
    }
    return 0;
}

void bp_cuda_disable_but(uint64_t but) {
    if (bp_cupti.ActivityFlushPeriod)
        bp_cupti.ActivityFlushPeriod(0);
    for (size_t i = 0; bp_cupti.ActivityDisable && i < sizeof kinds / sizeof *kinds; i++)
        if (bp_cuda.mode >= kinds[i].mode && !(but >> kinds[i].kind & 1))
            bp_cupti.ActivityDisable(kinds[i].kind);
    if (bp_cupti.ActivityDisable && bp_managed_is_on() &&
        !(but >> BP_CUPTI_UNIFIED_MEMORY_COUNTER & 1))
        bp_cupti.ActivityDisable(BP_CUPTI_UNIFIED_MEMORY_COUNTER);
}

/* Whoever ends the process waits for us: that is overhead, wherever it is. */
static void note_wait(uint64_t begin) {
    struct bp_header *header = bp_process.writer.header;
    const struct bp_thread *thread = bp_self;
    const struct bp_entry *entry = thread ? bp_thread_innermost(thread) : NULL;
    if (!entry || !entry->node || header->last_time)
        return;
    header->last_thread = thread->index;
    header->last_node = ((const struct bp_node *)entry->node)->index;
    header->last_time = bp_clock_now(bp_process.clock) - begin;
}

static void finish(void) {
    int saved = errno;
    uint64_t begin = bp_clock_now(bp_process.clock);
    if (bp_cuda.active && bp_cuda.pid == bp_process.pid && !bp_orphaned()) {
        bp_flush_finish();
        note_wait(begin);
    }
    errno = saved;
}

static void at_exit(int status, void *unused) {
    (void)status;
    (void)unused;
    finish();
}

static void go(struct bp_collector *collector) {
    snprintf(collector->library, sizeof collector->library, "%s", bp_cupti.path);
    if (bp_cupti.GetVersion)
        bp_cupti.GetVersion(&collector->cupti_version);
    collector->flags |= BP_COLLECTOR_CUPTI;
    collector->period = bp_cuda.ticks_per_s / 4; /* at most: LONGEST_NS of flush.c */
    collector->flushed = bp_clock_now(bp_process.clock);
    if (bp_flush_start() != 0) {
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, "no thread for the device records could be made");
        return;
    }
    collector->state = BP_COLLECTOR_ACTIVE;
    if (bp_cupti.ActivityFlushPeriod)
        bp_cupti.ActivityFlushPeriod(PERIOD_MS); /* by CUPTI's thread, should ours be stuck */
    bp_process.finish = finish;
    on_exit(at_exit, NULL); /* runs before the handlers of what was there already */
    bp_cuda.host_only = 0;
    __atomic_store_n(&bp_cuda.active, 1, __ATOMIC_RELEASE);
}

static uint64_t measure_clock(void) {
    const struct bp_header *header = bp_process.writer.header;
    struct bp_clock_pair now = bp_clock_pair_now(bp_process.clock);
    uint64_t ns = now.monotonic_ns - header->first.monotonic_ns;
    return ns ? (uint64_t)((double)(now.ticks - header->first.ticks) * 1e9 / (double)ns)
              : header->ticks_per_s;
}

/* Without a driver libcupti is not even opened: with its file on a cold disk that takes 10 ms and,
 * where the disk is busy, more than a second. */
static void start_cupti(struct bp_collector *collector) {
    if (!bp_device_may_exist()) {
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, "no CUDA driver");
        __atomic_store_n(&state.no_driver, 1, __ATOMIC_RELEASE);
        return;
    }
    if (__atomic_load_n(&bp_cuda.taken, __ATOMIC_ACQUIRE)) {
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, "the program records with CUPTI itself");
        return;
    }
    if (bp_cuda_window_init() != 0 || bp_record_init() != 0) {
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, "no memory for device records");
        return;
    }
    if (bp_cupti_load() != 0) {
        bp_cuda_reason(BP_COLLECTOR_HOST, 0,
                       bp_cupti.handle ? "libcupti lacks functions that are needed"
                                       : "libcupti was not found");
        return;
    }
    int error = bp_cupti.ActivityRegisterCallbacks(bp_buffer_requested, bp_buffer_completed);
    if (error == BP_CUPTI_SUCCESS)
        error = enable_kinds();
    if (error == BP_CUPTI_SUCCESS)
        go(collector);
    else
        say_refused(error);
}

static void start(void) {
    struct bp_collector *collector = collector_get();
    if (!collector)
        return;
    collector->reason[0] = '\0'; /* a driver that was looked for elsewhere first */
    collector->flags |= bp_cuda.hash ? BP_COLLECTOR_HASHED : 0;
    bp_cuda.ticks_per_s = measure_clock();
    __atomic_store_n(&bp_cuda.pid, bp_process.pid, __ATOMIC_RELEASE);
    if (bp_cuda.mode == BP_CUDA_WRAPPERS)
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, NOT_ASKED_FOR);
    else
        start_cupti(collector);
}

/* A driver that the loader did not find by name may be loaded from a place of its own, by one of
 * the first calls. Whoever sees it starts. */
static int start_late(void) {
    int unused = __atomic_add_fetch(&state.looks, 1, __ATOMIC_RELAXED) > LOOKS;
    if (!unused && !bp_cupti_loaded("libcuda.so.1"))
        return 0;
    if (!__atomic_exchange_n(&state.no_driver, 0, __ATOMIC_ACQ_REL) || unused)
        return 0;
    bp_sums.collector->reason[0] = '\0';
    start_cupti(bp_sums.collector);
    return 1;
}

/* Once in a process. A child of a process that had CUPTI running must not touch it. */
int bp_cuda_start_once(void) {
    int32_t nobody = 0;
    if (__atomic_load_n(&state.starting, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&state.starting, &nobody, bp_process.pid, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return __atomic_load_n(&state.no_driver, __ATOMIC_RELAXED) && bp_cuda.pid == bp_process.pid
                   ? start_late()
                   : 0;
    int saved = errno;
    start();
    errno = saved;
    __atomic_store_n(&state.started, 1, __ATOMIC_RELEASE);
    BP_SYS3(SYS_futex, &state.started, FUTEX_WAKE_PRIVATE, INT32_MAX);
    return 1;
}

/* Threads that make their first calls together would be without records until one of them has
 * started CUPTI. Only once, should it take too long, or be this thread that a handler interrupts.
 */
void bp_cuda_await_start(void) {
    struct timespec limit = {0, START_LIMIT_NS};
    if (__atomic_load_n(&state.started, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&state.starting, __ATOMIC_RELAXED) != bp_process.pid)
        return;
    long error;
    do
        error = BP_SYS4(SYS_futex, &state.started, FUTEX_WAIT_PRIVATE, 0, &limit);
    while (error == -EINTR);
    if (error == -ETIMEDOUT)
        __atomic_store_n(&state.started, 1, __ATOMIC_RELAXED);
}

static void note_child(void) {
    static int32_t noted;
    if (__atomic_exchange_n(&noted, bp_process.pid, __ATOMIC_RELAXED) != bp_process.pid)
        bp_cuda_reason(BP_COLLECTOR_HOST, BP_COLLECTOR_FORKED,
                       "forked from a process that had started CUDA");
}

int bp_cuda_is_collecting(void) {
    int32_t pid = __atomic_load_n(&bp_cuda.pid, __ATOMIC_ACQUIRE);
    if (pid == bp_process.pid)
        return __atomic_load_n(&bp_cuda.active, __ATOMIC_ACQUIRE) || bp_cuda.host_only;
    if (pid)
        note_child();
    return 0;
}

int InitializeInjection(void) {
    int saved = errno;
    if (bp_process.on && bp_cuda.mode >= BP_CUDA_TRANSFERS)
        bp_cuda_start_once();
    errno = saved;
    return 1;
}
