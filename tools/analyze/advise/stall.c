/* SPDX-License-Identifier: MIT
 *
 * Calls that were to return at once and did not: an asynchronous copy of pageable memory holds its
 * thread until the device has come to it.
 */
#include <math.h>

#include "tools/analyze/advise/transfer.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* Part of the time in the calls below which it is not what they took. */
#define MOST 0.5

static bool is_called_asynchronous(const struct bp_model_transfer *transfer) {
    return transfer->flags & BP_TRANSFER_ASYNC && bp_copies_is_pageable(transfer) &&
           transfer->call_s > 0 && transfer->call_whole_s == 0;
}

/* What a call takes in any case is another advice's. */
void bp_copies_stalled(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    bool down = transfer->direction == BP_D2H;
    if (!is_called_asynchronous(transfer))
        return;
    double usual_s = bp_copies_call_s(copies) * (double)transfer->count;
    double stall_s = transfer->call_s - transfer->call_moving_s - usual_s;
    double own_s = transfer->call_s - transfer->call_moving_s - transfer->call_wait_s;
    if (!(stall_s > MOST * transfer->call_s))
        return;
    bp_copies_advise(
        copies, bp_copies_call_rate(copies) * stall_s, transfer->bytes,
        bp_make_text("%s: %s %s%s %s pageable memory held the CPU for %s", copies->caller,
                     BP_COUNT(transfer->count), down ? "download" : "upload",
                     transfer->count == 1 ? "" : "s", down ? "to" : "from",
                     BP_SENTENCE_TIME(transfer->call_s)),
        bp_make_text("a stall: kernels ran for %s of it, none ran for %s, the bytes took %s; with "
                     "pinned memory (pin_memory, cudaHostAlloc) the call returns at once: %s",
                     BP_SENTENCE_TIME(transfer->call_wait_s), BP_SENTENCE_TIME(own_s),
                     BP_SENTENCE_TIME(transfer->device_s),
                     down ? "read the result later, after an event"
                          : "keep the buffer until the copy is done"));
}
