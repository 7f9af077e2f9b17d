/* SPDX-License-Identifier: MIT
 *
 * CUDA calls as their stubs report them, on the target's own threads: no lock and no system call
 * unless a queue is full. In between CUPTI learns whose call it is.
 */
#include "cuda/calls.h"

#include <errno.h>

#include "cuda/api.h"
#include "cuda/asked.h"
#include "cuda/attribute.h"
#include "cuda/content.h"
#include "cuda/copy.h"
#include "cuda/cupti/abi.h"
#include "cuda/cupti/cupti.h"
#include "cuda/cupti/external.h"
#include "cuda/flush.h"
#include "cuda/host.h"
#include "cuda/internal.h"
#include "cuda/managed.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/table.h"
#include "cuda/thread.h"
#include "cuda/window.h"
#include "interpose/hook/source.h"
#include "profile/clock.h"

static struct bp_cuda_thread *thread_get(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_cuda_thread *own = local->cuda;
    if (own)
        return own;
    own = bp_pages_new(sizeof *own);
    if (!own)
        return NULL;
    own->index = thread->index;
    own->launch_node = BP_NO_NODE;
    local->cuda = own;
    uint64_t mask = bp_lock(&bp_cuda.lock);
    own->next = bp_cuda.threads;
    bp_cuda.threads = own;
    bp_unlock(&bp_cuda.lock, mask);
    return own;
}

static void begin_change(struct bp_cuda_thread *own) {
    __atomic_store_n(&own->sequence, own->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct bp_cuda_thread *own) {
    __atomic_store_n(&own->sequence, own->sequence + 1, __ATOMIC_RELEASE);
}

static uint64_t external_id(const struct bp_cuda_thread *own, const struct bp_cuda_call *call) {
    return bp_external_pack((struct bp_external){own->index, call->node, call->slot});
}

/* Whether a record of the device will come of it: kernels have none that were not asked for, nor
 * has what copies or fills nothing, or copies within the host. */
static int is_awaited(const struct bp_cuda_call *call, const struct bp_registers *arguments) {
    if (bp_cuda_is_copy(call->class) && call->copy.direction != BP_COPY_UNTOLD)
        return call->copy.bytes > 0 && call->copy.direction != BP_COPY_ON_HOST;
    switch (call->class) {
    case BP_CUDA_LAUNCH:
        return bp_cuda.mode >= BP_CUDA_FULL;
    case BP_CUDA_MEMSET:
        return bp_arch_argument(arguments, 2) != 0;
    case BP_CUDA_MEMSET_2D:
        return bp_arch_argument(arguments, 3) != 0 && bp_arch_argument(arguments, 4) != 0;
    default:
        return bp_cuda_submits(call->class);
    }
}

/* Recorded into a graph, if it is for a stream that is: most likely while there is one. */
static int may_be_captured(unsigned class) {
    return class != BP_CUDA_GRAPH && !bp_cuda_blocks(class) &&
           __atomic_load_n(&bp_cuda.capturing, __ATOMIC_RELAXED) > 0;
}

/* Work for a stream that another thread captures goes into the graph, too. What this thread has
 * begun another may have ended. */
static enum bp_captured who_captures(const struct bp_cuda_thread *own) {
    if (!__atomic_load_n(&bp_cuda.capturing, __ATOMIC_RELAXED))
        return BP_NOT_CAPTURED;
    return own->capturing ? BP_CAPTURED_BY_THREAD : BP_CAPTURED_BY_ANOTHER;
}

/* Whether something is copied, and now: a transfer that has a place in the program. */
static int has_place(const struct bp_cuda_call *call) {
    return call->copy.bytes > 0 && call->copy.direction != BP_COPY_ON_HOST &&
           !may_be_captured(call->class);
}

/* Until its record comes, or should none come: see asked.c. */
static void ask(struct bp_cuda_thread *own, struct bp_cuda_call *call) {
    struct bp_slot *slot = bp_slot_get(call->slot);
    call->asked = slot && call->copy.direction >= 0 ? bp_asked_get(own, call) : 0;
    if (call->asked)
        slot->asked = call->asked;
}

static void open_call(struct bp_cuda_thread *own, const struct bp_entry *entry, unsigned class,
                      const struct bp_registers *arguments, struct bp_cuda_call *call) {
    call->class = class;
    call->node = ((const struct bp_node *)entry->node)->index;
    if (bp_cuda_is_copy(class)) {
        call->copy = bp_cuda_copy_of(class, arguments);
        if (has_place(call))
            call->site = bp_source_site(bp_self, entry, call->copy.bytes, call->copy.direction);
    }
    if (bp_cuda.host_only) {
        bp_host_enter(call);
        return;
    }
    call->start = bp_clock_now(bp_process.clock);
    if (is_awaited(call, arguments))
        call->slot =
            bp_slot_open(call->start, class, who_captures(own), bp_arch_argument(arguments, 0));
    if (class == BP_CUDA_LAUNCH || class == BP_CUDA_GRAPH)
        own->launch_node = call->node;
    if (class == BP_CUDA_PREFETCH)
        bp_managed_prefetch(bp_arch_argument(arguments, 0), bp_arch_argument(arguments, 1),
                            &(struct bp_work_record){
                                .start = call->start, .thread = own->index, .node = call->node});
    if (bp_cuda.hash && bp_cuda_is_copy(class)) {
        struct bp_slot *slot = bp_slot_get(call->slot);
        if (slot && call->copy.direction == BP_H2D)
            slot->content = (uint8_t)bp_content_look(&call->copy);
    }
    int taken = (int)__atomic_load_n(&bp_cuda.taken, __ATOMIC_RELAXED);
    /* Loading a module may copy, too. */
    if ((bp_cuda_submits(class) || class == BP_CUDA_MODULE) && own->index <= BP_EXTERNAL_THREADS &&
        call->node <= BP_EXTERNAL_NODES && !taken)
        call->pushed = bp_cupti.ActivityPushExternalCorrelationId(BP_CUPTI_CORRELATION_CUSTOM2,
                                                                  external_id(own, call)) == 0;
    if ((call->pushed || taken) && call->slot && bp_cuda_is_copy(class) && !may_be_captured(class))
        ask(own, call);
}

/* Opening libcupti takes milliseconds, within the caller's time: the profiler's own, like those of
 * the constructor, if the caller is the program itself. Otherwise it is `begin`'s: when our part of
 * the call began. */
static int is_collecting(const struct bp_thread *thread, const struct bp_entry *entry,
                         uint64_t *begin) {
    *begin = entry->start;
    if (bp_cuda_start_once() && thread->index == 0 && entry->parent == (uint64_t)&thread->root) {
        uint64_t now = bp_clock_now(bp_process.clock);
        bp_process.writer.header->startup += now - *begin;
        *begin = now;
    }
    bp_cuda_await_start();
    return bp_cuda_is_collecting();
}

/* A signal handler may call CUDA at any time, so the place is taken before it is written. */
static void push_call(struct bp_cuda_thread *own, const struct bp_cuda_call *call) {
    begin_change(own);
    if (own->depth < BP_CUDA_NESTING)
        own->open[own->depth].entry = call->entry;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t place = own->depth++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (place < BP_CUDA_NESTING)
        own->open[place] = *call;
    end_change(own);
}

static uint32_t limited(uint64_t ticks) {
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

static void queue_call(struct bp_cuda_thread *own, const struct bp_cuda_call *call,
                       const struct bp_entry *entry, uint64_t now) {
    struct bp_queued_call *to = &own->queue[own->head % BP_CUDA_QUEUE];
    uint64_t after = bp_clock_now(bp_process.clock) - now;
    to->interval =
        (struct bp_call_interval){entry->start, now, own->index, call->node, call->slot, 0};
    to->class = call->class;
    to->own = limited(entry->start - call->begin + after + own->drained);
    own->drained = 0;
    __atomic_store_n(&own->head, own->head + 1, __ATOMIC_RELEASE);
}

static void end_capture(struct bp_cuda_thread *own) {
    own->capturing -= own->capturing > 0;
    uint32_t now = __atomic_load_n(&bp_cuda.capturing, __ATOMIC_RELAXED);
    while (now > 0 && !__atomic_compare_exchange_n(&bp_cuda.capturing, &now, now - 1, 1,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* It failed, or its addresses were both of the host: it was no transfer after all. */
static void check_site(struct bp_cuda_call *call, const uint64_t *result) {
    int succeeded = result && (uint32_t)*result == 0;
    struct bp_sample *site = call->site;
    call->site = NULL;
    if (!site || (succeeded && call->copy.direction != BP_COPY_ON_HOST))
        return;
    __atomic_store_n(&site->count, site->count - 1, __ATOMIC_RELAXED);
    site->weight -= call->copy.bytes;
}

/* A copy that returned. What others copy while the process ends is counted by its record alone: the
 * last flush waits for those that returned before it, and for no later ones. Where another tool
 * took CUPTI's callbacks no record comes at all. */
static void count_copy(const struct bp_cuda_call *call) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* `returned` is seen by whoever begins that flush */
    if (!bp_flush_is_last() || __atomic_load_n(&bp_cuda.taken, __ATOMIC_RELAXED))
        bp_asked_count(call->asked, call->copy.bytes);
}

static void close_call(struct bp_cuda_thread *own, struct bp_cuda_call *call,
                       const uint64_t *result) {
    uint64_t last;
    struct bp_slot *slot = bp_slot_get(call->slot);
    if (slot) {
        slot->returned = 1;
        if (!result || (uint32_t)*result != 0 || __atomic_load_n(&bp_cuda.taken, __ATOMIC_RELAXED))
            slot->state = BP_SLOT_DONE; /* it failed, or others are told: nothing will come */
    }
    if (call->asked && result && (uint32_t)*result == 0)
        count_copy(call);
    if (call->class == BP_CUDA_CAPTURE && result && (uint32_t)*result == 0) {
        own->capturing++;
        __atomic_fetch_add(&bp_cuda.capturing, 1, __ATOMIC_RELAXED);
    }
    if (call->class == BP_CUDA_CAPTURED)
        end_capture(own); /* whatever comes of it */
    if (call->class == BP_CUDA_MANAGED && result && (uint32_t)*result == 0)
        bp_managed_start(1);
    if (call->pushed)
        bp_cupti.ActivityPopExternalCorrelationId(BP_CUPTI_CORRELATION_CUSTOM2, &last);
    call->pushed = 0;
    if (bp_cuda.hash && bp_cuda_is_copy(call->class) && call->copy.direction == BP_D2H)
        bp_content_later(own, &call->copy, call->slot, BP_CUDA_NONE);
    if (bp_cuda.hash && bp_cuda_blocks(call->class))
        bp_content_settle(own);
}

static int is_open(const struct bp_thread *thread, const struct bp_entry *from,
                   const struct bp_entry *entry) {
    while (from != entry && from != &thread->root)
        from = (const struct bp_entry *)from->parent;
    return from == entry;
}

/* Calls that a signal handler has left in the middle of what we do before or after them: nobody
 * tells of their end. */
static void close_left(struct bp_cuda_thread *own, const struct bp_thread *thread,
                       const struct bp_entry *entry) {
    const struct bp_entry *around = (const struct bp_entry *)entry->parent;
    while (own->depth && own->depth <= BP_CUDA_NESTING &&
           !is_open(thread, around, own->open[own->depth - 1].entry)) {
        struct bp_cuda_call *call = &own->open[own->depth - 1];
        if (!bp_cuda.host_only)
            close_call(own, call, NULL);
        check_site(call, NULL);
        begin_change(own);
        own->depth--;
        end_change(own);
    }
}

void bp_cuda_enter(struct bp_thread *thread, struct bp_entry *entry, unsigned class,
                   const struct bp_registers *arguments) {
    int saved = errno;
    uint64_t begin;
    struct bp_cuda_thread *own = is_collecting(thread, entry, &begin) ? thread_get(thread) : NULL;
    if (own) {
        struct bp_cuda_call call = {.entry = entry, .begin = begin};
        close_left(own, thread, entry);
        if (own->depth < BP_CUDA_NESTING)
            open_call(own, entry, class, arguments, &call);
        push_call(own, &call);
    }
    errno = saved;
}

/* The place of an open call; those above it were left. */
static uint32_t place_of(const struct bp_cuda_thread *own, const struct bp_entry *entry) {
    uint32_t place = own->depth < BP_CUDA_NESTING ? own->depth : BP_CUDA_NESTING;
    while (place-- > 0)
        if (own->open[place].entry == entry)
            return place;
    return own->depth - 1;
}

static void drain_own(struct bp_cuda_thread *own) {
    uint32_t waiting = own->head - __atomic_load_n(&own->tail, __ATOMIC_RELAXED);
    if (waiting == BP_CUDA_QUEUE / 2)
        bp_flush_kick();
    if (waiting < BP_CUDA_QUEUE)
        return;
    uint64_t begin = bp_clock_now(bp_process.clock);
    uint64_t mask = bp_lock(&bp_cuda.lock);
    bp_cuda_drain(own);
    bp_unlock(&bp_cuda.lock, mask);
    own->drained = limited(bp_clock_now(bp_process.clock) - begin);
}

void bp_cuda_leave(struct bp_thread *thread, struct bp_entry *entry, unsigned class, uint64_t now,
                   const uint64_t *result) {
    int saved = errno;
    struct bp_cuda_thread *own = ((struct bp_local *)thread->local)->cuda;
    (void)class;
    if (!own || !own->depth || bp_cuda.pid != bp_process.pid)
        return;
    uint32_t depth = place_of(own, entry);
    if (bp_cuda.host_only) {
        if (depth < BP_CUDA_NESTING) {
            bp_host_leave(own, &own->open[depth], entry, now, result);
            check_site(&own->open[depth], result);
        }
        own->depth = depth;
        errno = saved;
        return;
    }
    if (depth < BP_CUDA_NESTING) {
        close_call(own, &own->open[depth], result);
        check_site(&own->open[depth], result);
    }
    begin_change(own);
    if (depth < BP_CUDA_NESTING)
        queue_call(own, &own->open[depth], entry, now);
    own->depth = depth;
    end_change(own);
    drain_own(own);
    errno = saved;
}
