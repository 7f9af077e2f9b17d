/* SPDX-License-Identifier: MIT
 *
 * Many small copies: what they take beyond their bytes, and what gathering them would save.
 */
#include <math.h>
#include <stdio.h>

#include "tools/advise_transfer.h"
#include "tools/page.h"
#include "tools/text.h"

/* Fewer small copies than this are set-up, not a habit. */
#define MANY 50
/* Bytes per second that PCIe 3.0 x16 gives large copies, of pageable and pinned memory: what was
 * measured of the first is 3.4 to 9 (docs/sim.md). */
#define PAGEABLE_RATE 5e9
#define PINNED_RATE 12e9
/* A latency below this part of the shortest copy is another copy's. */
#define SHORTER 0.99
/* A batch is copied in pieces of this many bytes. */
#define BATCH ((double)BP_LARGE_COPY)

/* The mean of the function's `count` shortest calls. */
static double shortest_s(const struct bp_model *model, uint32_t function, uint64_t count) {
    const struct bp_function_work *work = &model->work->functions[function];
    double cost_s = work->returned ? work->inside_s / (double)work->returned : 0;
    uint64_t left = count;
    double sum = 0;
    for (unsigned i = 0; i + 1 < BP_BUCKETS && left > 0; i++) {
        uint64_t taken = work->histogram[i] < left ? work->histogram[i] : left;
        sum += (double)taken * (double)(bp_bucket_low(i) + bp_bucket_low(i + 1)) / 2;
        left -= taken;
    }
    double mean_s = count > left ? sum / (double)(count - left) * model->work->tick_s : 0;
    return fmax(mean_s - cost_s, 0);
}

/* The same function may copy large ones, whose calls take longer for reasons of their own: the
 * small ones' are the shortest. */
double bp_finding_call_s(const struct bp_finding *finding) {
    const struct bp_model *model = finding->model;
    uint32_t number = finding->transfer->call;
    if (number == BP_NO_FUNCTION || model->functions[number].calls == 0)
        return 0;
    const struct bp_function *function = &model->functions[number];
    double own_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    uint64_t count = 0;
    double exposed_s = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (other->call != number || !(other->device_s > 0))
            continue;
        count += other->small_count;
        exposed_s += other->exposed_s * other->small_s / other->device_s;
    }
    double mean_s = fmax(own_s / (double)function->calls, 0);
    if (count == 0)
        return mean_s;
    double least_s = shortest_s(model, number, count) - exposed_s / (double)count;
    return fmin(mean_s, fmax(least_s, 0));
}

/* Bytes per second of a large copy of the same kind of memory; where there was none, what any link
 * of the last ten years reaches. */
static double large_rate(const struct bp_finding *finding) {
    const struct bp_model *model = finding->model;
    bool pageable = bp_finding_is_pageable(finding->transfer);
    double bytes = 0;
    double s = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (!bp_finding_is_alike(finding, other, pageable))
            continue;
        bytes += (double)(other->bytes - other->small_bytes);
        s += bp_finding_large_s(other);
    }
    if (pageable)
        return s > 0 ? bytes / s : PAGEABLE_RATE;
    return fmax(s > 0 ? bytes / s : bp_finding_best_rate(finding), PINNED_RATE);
}

/* What a small copy takes beyond its bytes. A shorter copy elsewhere has shown it; where these are
 * the shortest there are, their own time is less the bytes at the rate of a large copy. */
static double latency_of(const struct bp_finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    double shown_s = bp_finding_is_pageable(transfer) ? device->pageable_s[transfer->direction]
                                                      : device->pinned_s[transfer->direction];
    double bytes_s = (double)transfer->small_bytes / large_rate(finding);
    double rest_s = (transfer->small_s - bytes_s) / (double)transfer->small_count;
    if (shown_s > 0 && shown_s < SHORTER * transfer->min_s)
        return shown_s;
    return fmin(fmax(rest_s, 0), transfer->min_s);
}

/* Without kernel records a blocking call's own time is taken for that of the kernels: it cannot be
 * told how much of it would be saved. */
static char *small_reason(const struct bp_finding *finding, double call, double latency_s,
                          double each_s) {
    char times[3][32];
    char own[40] = "";
    char latency[64] = "";
    bool known = bp_advise_time(call, times[0])[0] != '0';
    bool unknown = !known && finding->model->devices[finding->transfer->device].kernels_unknown;
    if (known)
        snprintf(own, sizeof(own), " (%s)", times[0]);
    if (bp_advise_time(latency_s, times[1])[0] != '0')
        snprintf(latency, sizeof(latency), "%s and a latency (%s)", unknown ? "," : "", times[1]);
    return bp_make_text(
        "beside its bytes (%s) each takes its call%s%s%s: gather them and copy once",
        bp_advise_time(each_s - latency_s, times[2]), own,
        unknown ? ", which is not in this figure (run --cuda=full)" : "", latency);
}

/* Batching saves the latency of all copies but one per batch, as far as it was exposed, and the
 * calls. */
void bp_finding_small_copies(const struct bp_finding *finding) {
    char text[32];
    char bytes[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double count = (double)transfer->small_count;
    if (transfer->small_count < MANY || !(transfer->device_s > 0) ||
        transfer->source == BP_MEMORY_MANAGED) /* pages: see migrations */
        return;
    double latency_s = latency_of(finding);
    double batches = 1 + (double)transfer->small_bytes / BATCH;
    double call = bp_finding_call_s(finding);
    double each_s = finding->rate * latency_s * transfer->exposed_s / transfer->device_s +
                    bp_finding_call_rate(finding) * call;
    bp_finding_advise(finding, (count - batches) * each_s, transfer->small_bytes,
                      bp_make_text("%s: %s small copies %s, %s on average", finding->caller,
                                   bp_page_count(transfer->small_count, text),
                                   bp_direction_words[transfer->direction],
                                   bp_page_bytes((double)transfer->small_bytes / count, bytes)),
                      small_reason(finding, call, latency_s, transfer->small_s / count));
}

/* A call's time has in it what it waited for, so nobody knows what of it would be saved. */
void bp_finding_small_calls(const struct bp_finding *finding) {
    char text[32];
    char bytes[32];
    char times[2][32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double count = (double)transfer->small_count;
    double wall_s = bp_finding_call_rate(finding) * transfer->small_s;
    if (!(transfer->flags & BP_TRANSFER_HOST_ONLY) || transfer->small_count < MANY ||
        wall_s < BP_WORTH_TRYING * finding->model->wall_s)
        return;
    bp_advise_remark(
        finding->model,
        bp_make_text("%s: %s small copies %s, %s on average, in %s", finding->caller,
                     bp_page_count(transfer->small_count, text),
                     bp_direction_words[transfer->direction],
                     bp_page_bytes((double)transfer->small_bytes / count, bytes),
                     bp_advise_time(wall_s, times[0])),
        bp_make_text("each takes its call, %s with what it waited for: gather them and copy once; "
                     "what that would save is not known without device records",
                     bp_advise_time(transfer->small_s / count, times[1])));
}
