/* SPDX-License-Identifier: MIT
 *
 * Synchronous copies: what they could overlap with if they were asynchronous.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/advise_transfer.h"
#include "tools/page.h"
#include "tools/text.h"

/* Of what an overlap saves: calls that take less need no word. */
#define WORTH_NAMING 0.1

static bool is_blocking(const struct bp_model_transfer *transfer) {
    return !(transfer->flags & BP_TRANSFER_ASYNC) && transfer->source != BP_MEMORY_MANAGED &&
           transfer->target != BP_MEMORY_MANAGED;
}

/* Device time of the large blocking copies of one direction; a single one comes before or after the
 * others for a reason. */
static double blocking_s(const struct bp_finding *finding, uint32_t direction) {
    const struct bp_model *model = finding->model;
    double sum_s = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (other->device == finding->transfer->device && other->direction == direction &&
            is_blocking(other) && other->count > 1)
            sum_s += bp_finding_large_s(other);
    }
    return sum_s;
}

/* What runs on the device at other times: all kernels, and copies the other way, whose engine is
 * another. Of both directions the shorter one is hidden behind the longer, not the longer behind
 * the shorter, too: so advice on both can be added. */
static double beside_s(const struct bp_finding *finding, char *text, size_t size) {
    uint32_t direction = finding->transfer->direction;
    double compute_s = finding->model->devices[finding->transfer->device].compute_s;
    double same_s = blocking_s(finding, direction);
    double other_s = blocking_s(finding, direction == BP_H2D ? BP_D2H : BP_H2D);
    bool shorter = other_s > same_s || (direction == BP_H2D && other_s >= same_s);
    char times[2][32];
    bp_advise_time(compute_s, times[0]);
    bp_advise_time(other_s, times[1]);
    if (!shorter || !(other_s > 0))
        snprintf(text, size, "%s of kernels", times[0]);
    else
        snprintf(text, size, "%s%s%s of copies %s", compute_s > 0 ? times[0] : "",
                 compute_s > 0 ? " of kernels and " : "", times[1],
                 bp_direction_words[direction == BP_H2D ? BP_D2H : BP_H2D]);
    return compute_s + (shorter ? other_s : 0);
}

/* What CUDA itself took for the row's calls, of the wall: it, too, is spent while a copy runs if
 * that is asynchronous. */
static double calls_s(const struct bp_finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->call == BP_NO_FUNCTION || finding->model->functions[transfer->call].calls == 0)
        return 0;
    const struct bp_function *call = &finding->model->functions[transfer->call];
    if (!strstr(call->name, "Memcpy")) /* a graph, or a trace's call that waited */
        return 0;
    double own_s = fmax(call->self_s - call->transfer_s - call->kernel_wait_s, 0);
    double copies = (double)(transfer->count - transfer->small_count);
    return bp_finding_call_rate(finding) * own_s * fmin(copies / (double)call->calls, 1);
}

/* An asynchronous call on pageable memory blocks all the same. */
void bp_finding_synchronous_copies(const struct bp_finding *finding) {
    char size[32];
    char time[32];
    char beside[120];
    char calls[80] = "";
    const struct bp_model_transfer *transfer = finding->transfer;
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    double most_s = beside_s(finding, beside, sizeof(beside));
    if (!is_blocking(transfer) || bytes == 0 || !(most_s > 0))
        return;
    double overlap_s = fmin(bp_finding_exposed_s(finding), most_s);
    double call = calls_s(finding);
    if (call > WORTH_NAMING * overlap_s)
        snprintf(calls, sizeof(calls), ", and the %s of their calls with the copies",
                 bp_advise_time(call, time));
    bp_finding_advise(
        finding, overlap_s + call, bytes,
        bp_make_text("%s: synchronous copies %s block the host, %s", finding->caller,
                     bp_direction_words[transfer->direction], bp_page_bytes((double)bytes, size)),
        bp_make_text("with cudaMemcpyAsync%s and a second stream they could overlap with %s%s",
                     bp_finding_is_pageable(transfer) ? ", pinned memory" : "", beside, calls));
}
