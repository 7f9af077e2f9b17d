/* SPDX-License-Identifier: MIT
 *
 * Many small copies: what they take beyond their bytes, and what gathering them would save.
 */
#include <math.h>
#include <stdio.h>

#include "tools/analyze/advise/transfer.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/model/call.h"

/* Fewer small copies than this are set-up, not a habit. */
#define MANY 50
/* Bytes per second that PCIe 3.0 x16 gives large copies, of pageable and pinned memory: what was
 * measured of the first is 3.4 to 9 (docs/internals/sim.md). */
#define PAGEABLE_RATE 5e9
#define PINNED_RATE 12e9
/* A latency below this part of the shortest copy is another copy's. */
#define SHORTER 0.99
/* A batch is copied in pieces of this many bytes. */
#define BATCH ((double)BP_LARGE_COPY)

/* The same function may copy large ones, whose calls take longer for reasons of their own: the
 * small ones' are the shortest. */
double bp_copies_call_s(const struct bp_copies *copies) {
    const struct bp_model *model = copies->model;
    uint32_t number = copies->transfer->call;
    if (number == BP_NO_FUNCTION || model->functions[number].calls == 0)
        return 0;
    const struct bp_function *function = &model->functions[number];
    double own_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    uint64_t count = 0;
    double exposed_s = 0;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *other = &model->cuda.transfers[i];
        if (other->call != number || !(other->device_s > 0))
            continue;
        count += other->small_count;
        exposed_s += other->exposed_s * other->small_s / other->device_s;
    }
    double mean_s = fmax(own_s / (double)function->calls, 0);
    if (count == 0)
        return mean_s;
    double least_s = bp_calls_shortest(model, number, count) - exposed_s / (double)count;
    return fmin(mean_s, fmax(least_s, 0));
}

/* Bytes per second of a large copy of the same kind of memory; where there was none, what any link
 * of the last ten years reaches. */
static double large_rate(const struct bp_copies *copies) {
    const struct bp_model *model = copies->model;
    bool pageable = bp_copies_is_pageable(copies->transfer);
    double bytes = 0;
    double s = 0;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *other = &model->cuda.transfers[i];
        if (!bp_copies_is_alike(copies, other, pageable))
            continue;
        bytes += (double)(other->bytes - other->small_bytes);
        s += bp_copies_large_s(other);
    }
    if (pageable)
        return s > 0 ? bytes / s : PAGEABLE_RATE;
    return fmax(s > 0 ? bytes / s : bp_copies_best_rate(copies), PINNED_RATE);
}

/* What a small copy takes beyond its bytes. A shorter copy elsewhere has shown it; where these are
 * the shortest there are, their own time is less the bytes at the rate of a large copy. */
static double latency_of(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    const struct bp_model_device *device = &copies->model->cuda.devices[transfer->device];
    double shown_s = bp_copies_is_pageable(transfer) ? device->pageable_s[transfer->direction]
                                                     : device->pinned_s[transfer->direction];
    double bytes_s = (double)transfer->small_bytes / large_rate(copies);
    double rest_s = (transfer->small_s - bytes_s) / (double)transfer->small_count;
    if (shown_s > 0 && shown_s < SHORTER * transfer->min_s)
        return shown_s;
    return fmin(fmax(rest_s, 0), transfer->min_s);
}

/* Without kernel records a blocking call's own time is taken for that of the kernels: it cannot be
 * told how much of it would be saved. */
static char *small_reason(const struct bp_copies *copies, double call, double latency_s,
                          double each_s) {
    bool known = BP_SENTENCE_TIME(call)[0] != '0';
    bool unknown = !known && copies->model->cuda.devices[copies->transfer->device].kernels_unknown;
    struct bp_text text = {0};
    bp_text_add(&text, "beyond its bytes (%s) each costs its call",
                BP_SENTENCE_TIME(each_s - latency_s));
    if (known)
        bp_text_add(&text, " (%s)", BP_SENTENCE_TIME(call));
    else if (unknown)
        bp_text_add(&text, ", which is not in this figure (run --cuda=full)");
    if (BP_SENTENCE_TIME(latency_s)[0] != '0')
        bp_text_add(&text, "%s and a latency (%s)", unknown ? "," : "",
                    BP_SENTENCE_TIME(latency_s));
    bp_text_add(&text, ": gather them and copy once");
    return bp_text_take(&text);
}

/* Batching saves the latency of all copies but one per batch, as far as it was exposed, and the
 * calls. */
void bp_copies_small(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    double count = (double)transfer->small_count;
    if (transfer->small_count < MANY || !(transfer->device_s > 0) ||
        transfer->source == BP_MEMORY_MANAGED) /* pages: see migrations */
        return;
    double latency_s = latency_of(copies);
    double batches = 1 + (double)transfer->small_bytes / BATCH;
    double call = bp_copies_call_s(copies);
    double each_s = copies->rate * latency_s * transfer->exposed_s / transfer->device_s +
                    bp_copies_call_rate(copies) * call;
    bp_copies_advise(copies, (count - batches) * each_s, transfer->small_bytes,
                     bp_make_text("%s: %s small copies %s, %s on average", copies->caller,
                                  BP_COUNT(transfer->small_count),
                                  bp_direction_words[transfer->direction],
                                  BP_BYTES((double)transfer->small_bytes / count)),
                     small_reason(copies, call, latency_s, transfer->small_s / count));
}

/* A call's time includes what it waited for, so the saving is unknown. */
void bp_copies_small_calls(const struct bp_copies *copies) {
    char times[2][32];
    const struct bp_model_transfer *transfer = copies->transfer;
    double count = (double)transfer->small_count;
    double wall_s = bp_copies_call_rate(copies) * transfer->small_s;
    if (!(transfer->flags & BP_TRANSFER_HOST_ONLY) || transfer->small_count < MANY ||
        wall_s < BP_WORTH_TRYING * copies->model->wall.total_s)
        return;
    bp_advise_remark(copies->analysis,
                     bp_make_text("%s: %s small copies %s, %s on average, in %s", copies->caller,
                                  BP_COUNT(transfer->small_count),
                                  bp_direction_words[transfer->direction],
                                  BP_BYTES((double)transfer->small_bytes / count),
                                  bp_sentence_time(wall_s, times[0])),
                     bp_make_text("each call takes %s, including what it waited for: gather them "
                                  "and copy once; the saving is unknown without device records",
                                  bp_sentence_time(transfer->small_s / count, times[1])));
}
