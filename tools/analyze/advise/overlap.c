/* SPDX-License-Identifier: MIT
 *
 * Synchronous copies: what they could overlap with if they were asynchronous.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/analyze/advise/transfer.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* Share of what an overlap saves below which a call needs no word. */
#define WORTH_NAMING 0.1

static bool is_blocking(const struct bp_model_transfer *transfer) {
    return !(transfer->flags & BP_TRANSFER_ASYNC) && transfer->source != BP_MEMORY_MANAGED &&
           transfer->target != BP_MEMORY_MANAGED;
}

/* Device time of the large blocking copies of one direction; a single one comes before or after the
 * others for a reason. */
static double blocking_s(const struct bp_copies *copies, uint32_t direction) {
    const struct bp_model *model = copies->model;
    double sum_s = 0;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *other = &model->cuda.transfers[i];
        if (other->device == copies->transfer->device && other->direction == direction &&
            is_blocking(other) && other->count > 1)
            sum_s += bp_copies_large_s(other);
    }
    return sum_s;
}

/* What runs on the device at other times: all kernels, and copies the other way, whose engine is
 * another. Of both directions the shorter one is hidden behind the longer, not the longer behind
 * the shorter, too: so advice on both can be added. */
static double beside_s(const struct bp_copies *copies, struct bp_text *text) {
    uint32_t direction = copies->transfer->direction;
    double compute_s = copies->model->cuda.devices[copies->transfer->device].compute_s;
    double same_s = blocking_s(copies, direction);
    double other_s = blocking_s(copies, direction == BP_H2D ? BP_D2H : BP_H2D);
    bool shorter = other_s > same_s || (direction == BP_H2D && other_s >= same_s);
    bool others = shorter && other_s > 0;
    if (compute_s > 0 || !others)
        bp_text_add(text, "%s of kernels", BP_SENTENCE_TIME(compute_s));
    if (others)
        bp_text_add(text, "%s%s of copies %s", compute_s > 0 ? " and " : "",
                    BP_SENTENCE_TIME(other_s),
                    bp_direction_words[direction == BP_H2D ? BP_D2H : BP_H2D]);
    return compute_s + (shorter ? other_s : 0);
}

/* What CUDA itself took for the row's calls, of the wall: it, too, is spent while a copy runs if
 * that is asynchronous. */
static double calls_s(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    if (transfer->call == BP_NO_FUNCTION || copies->model->functions[transfer->call].calls == 0)
        return 0;
    const struct bp_function *call = &copies->model->functions[transfer->call];
    if (!strstr(call->name, "Memcpy")) /* a graph, or a trace's call that waited */
        return 0;
    double own_s = fmax(call->self_s - call->transfer_s - call->kernel_wait_s, 0);
    double large = (double)(transfer->count - transfer->small_count);
    return bp_copies_call_rate(copies) * own_s * fmin(large / (double)call->calls, 1);
}

/* An asynchronous call on pageable memory blocks all the same. */
void bp_copies_synchronous(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    struct bp_text why = {0};
    bp_text_add(&why, "with cudaMemcpyAsync%s and a second stream they could overlap with ",
                bp_copies_is_pageable(transfer) ? ", pinned memory" : "");
    double most_s = beside_s(copies, &why);
    if (!is_blocking(transfer) || bytes == 0 || !(most_s > 0)) {
        bp_text_fini(&why);
        return;
    }
    double overlap_s = fmin(bp_copies_exposed_s(copies), most_s);
    double call_s = calls_s(copies);
    if (call_s > WORTH_NAMING * overlap_s)
        bp_text_add(&why, ", and the %s of their calls with the copies", BP_SENTENCE_TIME(call_s));
    bp_copies_advise(copies, overlap_s + call_s, bytes,
                     bp_make_text("%s: synchronous copies %s block the host, %s", copies->caller,
                                  bp_direction_words[transfer->direction], BP_BYTES((double)bytes)),
                     bp_text_take(&why));
}
