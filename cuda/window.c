/* SPDX-License-Identifier: MIT
 *
 * From the queues of the threads and the records of the devices into the window of attribute.h, and
 * out of it again as soon as everything up to some instant is known. All with the collector's lock.
 */
#include "cuda/window.h"

#include <string.h>

#include "cuda/attribute.h"
#include "cuda/flush.h"
#include "cuda/internal.h"
#include "cuda/managed.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/thread.h"
#include "profile/clock.h"

#define CALLS 65536 /* with WORKS 9 MB, touched as they are used */
#define WORKS 65536
#define KICK 4096          /* works after which a window that is half full is looked at again */
#define MIGRATION_PART 10u /* of a second: 2 MB, the longest, take a hundredth of that */

static struct {
    struct bp_window window;
    uint64_t flushed; /* when the last flush began */
} state;

int bp_cuda_window_init(void) {
    if (state.window.call_capacity)
        return 0;
    void *memory = bp_pages_new(bp_window_size(CALLS, WORKS));
    if (!memory)
        return -1;
    bp_window_init(&state.window, memory, CALLS, WORKS);
    return 0;
}

/* What a thread is in right now counts up to `now`; the rest of it when it leaves. */
static void add_open(const struct bp_cuda_call *open, uint32_t depth,
                     const struct bp_cuda_thread *thread, uint64_t now) {
    for (uint32_t i = 0; i < depth && i < BP_CUDA_NESTING; i++) {
        struct bp_queued_call call = {
            {open[i].start, now, thread->index, open[i].node, open[i].slot, 0}, open[i].class, 0};
        bp_sums_call(&call, thread->launch_node, 0);
        bp_window_call(&state.window, &call.interval);
    }
}

static void note_sums(void) {
    struct bp_collector *collector = bp_sums.collector;
    bp_sums_busy(&state.window);
    collector->late = state.window.late_works;
    collector->late_time = state.window.late_time;
    if (state.window.horizon > collector->flushed)
        collector->flushed = state.window.horizon;
}

static void fold_to(uint64_t horizon) {
    bp_window_fold(&state.window, horizon, bp_sums_charge, NULL);
    note_sums();
}

/* No call is known to have a migration on its way: those that run at a flush come with the next. */
static uint64_t complete_until(void) {
    uint64_t slack = bp_managed_is_on() ? bp_cuda.ticks_per_s / MIGRATION_PART : 0;
    return state.flushed > slack ? state.flushed - slack : 0;
}

/* There is no room: half of the window must go, whether its records have come or not. */
static void fold_by_force(void) {
    uint64_t horizon = bp_slot_oldest(complete_until());
    if (horizon > state.window.horizon)
        fold_to(horizon);
    if (state.window.call_count < CALLS / 2 && state.window.work_count < WORKS / 2)
        return;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < state.window.call_count; i++) {
        uint64_t end = state.window.calls[i].end;
        low = end < low ? end : low;
        high = end > high ? end : high;
    }
    fold_to(state.window.call_count ? low + (high - low) / 2 + 1 : bp_clock_now(bp_process.clock));
}

static void add_call(const struct bp_queued_call *call, uint32_t launch_node) {
    bp_sums_call(call, launch_node, 1);
    if (bp_window_call(&state.window, &call->interval) == 0)
        return;
    fold_by_force();
    if (bp_window_call(&state.window, &call->interval) != 0)
        bp_sums.collector->lost_calls++;
}

void bp_cuda_drain(struct bp_cuda_thread *thread) {
    uint32_t head = __atomic_load_n(&thread->head, __ATOMIC_ACQUIRE);
    for (; thread->tail != head; thread->tail++)
        add_call(&thread->queue[thread->tail % BP_CUDA_QUEUE], thread->launch_node);
    if (state.window.call_count > CALLS / 2)
        bp_flush_kick();
}

void bp_cuda_window_work(const struct bp_work_interval *work) {
    if (bp_window_work(&state.window, work) == 0) {
        /* A graph's launch is one call and many works. */
        if (state.window.work_count >= WORKS / 2 && state.window.work_count % KICK == 0)
            bp_flush_kick();
        return;
    }
    fold_by_force();
    if (bp_window_work(&state.window, work) != 0)
        state.window.late_works++;
}

/* A thread may enter or leave while it is looked at: look again. */
static void drain_with_open(struct bp_cuda_thread *thread, uint64_t now) {
    struct bp_cuda_call open[BP_CUDA_NESTING];
    for (int tries = 0; tries < 1000; tries++) {
        uint64_t before = __atomic_load_n(&thread->sequence, __ATOMIC_ACQUIRE);
        uint32_t depth = thread->depth;
        memcpy(open, thread->open, sizeof open);
        bp_cuda_drain(thread);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && __atomic_load_n(&thread->sequence, __ATOMIC_RELAXED) == before) {
            add_open(open, depth, thread, now);
            return;
        }
    }
}

void bp_cuda_fold(uint64_t flushed, int all) {
    uint64_t begin = bp_clock_now(bp_process.clock);
    if (flushed > state.flushed)
        state.flushed = flushed;
    uint64_t horizon = all ? begin : bp_slot_oldest(complete_until());
    for (struct bp_cuda_thread *t = bp_cuda.threads; t; t = t->next)
        drain_with_open(t, horizon);
    if (horizon > state.window.horizon)
        fold_to(horizon);
    bp_sums.collector->own_time += bp_clock_now(bp_process.clock) - begin;
}
