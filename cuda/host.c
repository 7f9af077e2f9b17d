/* SPDX-License-Identifier: MIT
 *
 * Copies without records of the device: what their arguments and their calls' own time tell. The
 * time of a call that waits for the device is all there is; kernels that it waited for are in it.
 */
#include "cuda/host.h"

#include "cuda/api.h"
#include "cuda/content.h"
#include "cuda/copy.h"
#include "cuda/internal.h"
#include "cuda/sums.h"
#include "cuda/thread.h"
#include "profile/clock.h"

void bp_host_enter(struct bp_cuda_call *call) {
    if (bp_cuda.hash && bp_cuda_is_copy(call->class) && call->copy.direction == BP_H2D)
        call->content = bp_content_look(&call->copy);
}

static uint8_t flags_of(unsigned class) {
    return (uint8_t)(BP_TRANSFER_HOST_ONLY | (bp_cuda_blocks(class) ? 0 : BP_TRANSFER_ASYNC));
}

/* The time of the call is that of the copy. */
static int waits(const struct bp_cuda_call *call) {
    int direction = call->copy.direction;
    return bp_cuda_blocks(call->class) && (direction == BP_H2D || direction == BP_D2H);
}

static struct bp_host_known *known_of(struct bp_cuda_thread *own,
                                      const struct bp_work_record *work) {
    uint32_t hash = work->node * 4 + work->direction;
    return &own->known[hash % BP_HOST_KNOWN];
}

static int is_known(const struct bp_host_known *known, const struct bp_work_record *work) {
    return known->valid && known->node == work->node && known->direction == work->direction &&
           known->flags == work->flags;
}

/* The first copy of its kind, or one whose content is looked at, or one more than tables hold. */
static void add_new(struct bp_cuda_thread *own, const struct bp_cuda_call *call,
                    const struct bp_work_record *work, int blocks, uint64_t cost) {
    uint64_t mask = bp_lock(&bp_cuda.lock);
    struct bp_host_sums to = bp_sums_host(work);
    bp_sums_host_copy(&to, work, blocks, cost);
    struct bp_transfer *transfer = bp_sums_transfer_at(to.transfer);
    if (transfer)
        bp_content_count(transfer, call->content, work->bytes,
                         blocks ? work->end - work->start : 0);
    if (!bp_cuda.hash && transfer && transfer->thread == own->index && to.split &&
        to.split->thread == own->index)
        *known_of(own, work) =
            (struct bp_host_known){work->node, work->direction, work->flags, 1, 0, to};
    bp_unlock(&bp_cuda.lock, mask);
    if (bp_cuda.hash && work->direction == BP_D2H)
        bp_content_later(own, &call->copy, 0, to.transfer);
}

static void add_copy(struct bp_cuda_thread *own, const struct bp_cuda_call *call,
                     const struct bp_entry *entry, uint64_t now) {
    struct bp_work_record work = {.start = entry->start,
                                  .end = now,
                                  .bytes = call->copy.bytes,
                                  .thread = own->index,
                                  .node = call->node,
                                  .direction = (uint8_t)call->copy.direction,
                                  .flags = flags_of(call->class)};
    uint64_t cost = entry->start - call->begin + bp_clock_now(bp_process.clock) - now;
    const struct bp_host_known *known = known_of(own, &work);
    if (is_known(known, &work))
        bp_sums_host_copy(&known->sums, &work, waits(call), cost);
    else
        add_new(own, call, &work, waits(call), cost);
}

/* To look at what has come takes time after the call, in its caller's. */
static void settle(struct bp_cuda_thread *own, const struct bp_cuda_call *call) {
    if (!own->later_count)
        return;
    uint64_t begin = bp_clock_now(bp_process.clock);
    bp_content_settle(own);
    uint64_t mask = bp_lock(&bp_cuda.lock);
    bp_sums_own(own->index, call->node, bp_clock_now(bp_process.clock) - begin);
    bp_unlock(&bp_cuda.lock, mask);
}

void bp_host_leave(struct bp_cuda_thread *own, struct bp_cuda_call *call,
                   const struct bp_entry *entry, uint64_t now, const uint64_t *result) {
    int succeeded = result && (uint32_t)*result == 0;
    if (bp_cuda_is_copy(call->class) && succeeded) {
        bp_cuda_copy_resolve(&call->copy);
        if (call->copy.direction >= 0 && call->copy.bytes > 0)
            add_copy(own, call, entry, now);
        else if (call->copy.direction == BP_COPY_UNTOLD)
            __atomic_add_fetch(&bp_sums.collector->untold_copies, 1, __ATOMIC_RELAXED);
    }
    if (bp_cuda.hash && bp_cuda_blocks(call->class))
        settle(own, call);
}
