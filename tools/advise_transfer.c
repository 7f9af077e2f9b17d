/* SPDX-License-Identifier: MIT
 *
 * What could be saved on transfers, as sentences with figures: each sort of finding is one function
 * that looks at one row of transfers, some in files of their own. Estimates use what the device
 * itself has shown: the rate of its best copy and the latency of its shortest. Only host time that
 * was really exposed can be saved, copies that were hidden cost nothing; and of a thread's time
 * only its part of the wall, since others were busy meanwhile.
 */
#include "tools/advise_transfer.h"

#include <math.h>

#include "tools/page.h"
#include "tools/text.h"

/* Copies that lose less than this part to the best of them are as fast as it. */
#define LITTLE 0.2
/* Where the rate of pinned memory is known, less than this part is no gain. */
#define NO_GAIN 0.05

const char *const bp_direction_words[] = {"to the device", "from the device", "within the device",
                                          "between devices", "set"};

void bp_finding_advise(const struct bp_finding *finding, double saves_s, uint64_t bytes, char *what,
                       char *why) {
    bp_advise(finding->model, finding->transfer->caller, saves_s, bytes, what, why);
}

double bp_finding_best_rate(const struct bp_finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    return finding->model->devices[transfer->device].best[transfer->direction];
}

double bp_finding_large_s(const struct bp_model_transfer *transfer) {
    return fmax(transfer->device_s - transfer->small_s, 0);
}

/* Wall of the copies that are not small: those are a finding of their own. */
double bp_finding_exposed_s(const struct bp_finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    double large_s = bp_finding_large_s(transfer);
    return large_s > 0 ? finding->rate * transfer->exposed_s * large_s / transfer->device_s : 0;
}

bool bp_finding_is_pageable(const struct bp_model_transfer *transfer) {
    uint32_t host = transfer->direction == BP_H2D ? transfer->source : transfer->target;
    return host == BP_MEMORY_PAGEABLE;
}

/* Large copies to or from the other kind of memory say nothing of this one. */
bool bp_finding_is_alike(const struct bp_finding *finding, const struct bp_model_transfer *other,
                         bool pageable) {
    return other->device == finding->transfer->device &&
           other->direction == finding->transfer->direction &&
           bp_finding_is_pageable(other) == pageable && other->source != BP_MEMORY_MANAGED &&
           other->bytes > other->small_bytes;
}

/* What the time of the copy's call is of the wall. */
double bp_finding_call_rate(const struct bp_finding *finding) {
    uint32_t number = finding->transfer->call;
    return number == BP_NO_FUNCTION ? 1 : bp_function_wall_rate(&finding->model->functions[number]);
}

/* Where every copy used pageable memory, the best of them says nothing about pinned memory. */
static bool knows_pinned(const struct bp_finding *finding) {
    const struct bp_model *model = finding->model;
    for (uint32_t i = 0; i < model->transfer_count; i++)
        if (bp_finding_is_alike(finding, &model->transfers[i], false))
            return true;
    return false;
}

static void unknown_saving(const struct bp_finding *finding, double bytes) {
    char size[32];
    char time[32];
    double exposed_s = bp_finding_exposed_s(finding);
    if (exposed_s < BP_WORTH_TRYING * finding->model->wall_s)
        return;
    bp_advise_remark(
        finding->model,
        bp_make_text("%s: copies %s use pageable memory, %s in %s", finding->caller,
                     bp_direction_words[finding->transfer->direction], bp_page_bytes(bytes, size),
                     bp_advise_time(exposed_s, time)),
        bp_make_text("no copy used pinned memory, so what it would save is not known; it needs no "
                     "staging and can be asynchronous: try cudaHostAlloc or pin_memory"));
}

/* As much less is exposed as the copies would be shorter. */
static void pageable_copies(const struct bp_finding *finding) {
    char size[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double large_s = bp_finding_large_s(transfer);
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    if (!bp_finding_is_pageable(transfer) || bytes == 0 || !(large_s > 0))
        return;
    double gain = 1 - (double)bytes / bp_finding_best_rate(finding) / large_s;
    bool known = knows_pinned(finding);
    if (gain < LITTLE && !known)
        unknown_saving(finding, (double)bytes);
    if (gain < (known ? NO_GAIN : LITTLE))
        return;
    bp_finding_advise(
        finding, gain * bp_finding_exposed_s(finding), bytes,
        bp_make_text("%s: copies %s use pageable memory, %s", finding->caller,
                     bp_direction_words[transfer->direction], bp_page_bytes((double)bytes, size)),
        bp_make_text("%.1f GB/s, the device has reached %.1f; %s pinned memory (cudaHostAlloc, "
                     "pin_memory) a copy needs no staging and can be asynchronous",
                     (double)bytes / large_s / 1e9, bp_finding_best_rate(finding) / 1e9,
                     transfer->direction == BP_H2D ? "from" : "to"));
}

static void migrations(const struct bp_finding *finding) {
    char text[32];
    char sizes[2][32];
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->source != BP_MEMORY_MANAGED || transfer->count == 0)
        return;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    double bytes = (double)transfer->bytes;
    double once_s = bytes / bp_finding_best_rate(finding) + device->latency_s[transfer->direction];
    double cost_s = transfer->exposed_s + transfer->faulted_s;
    bp_finding_advise(
        finding, finding->rate * (cost_s - once_s), transfer->bytes,
        bp_make_text("managed memory: %s migrations %s, %s", bp_page_count(transfer->count, text),
                     bp_direction_words[transfer->direction], bp_page_bytes(bytes, sizes[0])),
        bp_make_text("%s at a time on page faults; cudaMemPrefetchAsync moves them at once",
                     bp_page_bytes(bytes / (double)transfer->count, sizes[1])));
}

/* The wall of some of the copies: by their time on the device, or, where that is not known, by
 * their bytes; and that of their calls, which nobody makes for what is not copied. */
static double cost_of(const struct bp_finding *finding, uint64_t count, double s, uint64_t bytes) {
    const struct bp_model_transfer *transfer = finding->transfer;
    double part = transfer->device_s > 0 ? s / transfer->device_s
                  : transfer->bytes > 0  ? (double)bytes / (double)transfer->bytes
                                         : 0;
    return finding->rate * transfer->exposed_s * fmin(part, 1) +
           bp_finding_call_rate(finding) * bp_finding_call_s(finding) * (double)count;
}

/* Known only if contents were hashed. */
static void repeated_copies(const struct bp_finding *finding) {
    char text[32];
    char size[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->duplicates)
        bp_finding_advise(finding,
                          cost_of(finding, transfer->duplicates, transfer->duplicate_s,
                                  transfer->duplicate_bytes),
                          transfer->duplicate_bytes,
                          bp_make_text("%s: %s copies of content that was there already, %s",
                                       finding->caller, bp_page_count(transfer->duplicates, text),
                                       bp_page_bytes((double)transfer->duplicate_bytes, size)),
                          bp_make_text("keep it on the device"));
    if (transfer->round_trips)
        bp_finding_advise(
            finding,
            cost_of(finding, transfer->round_trips, transfer->round_trip_s,
                    transfer->round_trip_bytes),
            transfer->round_trip_bytes,
            bp_make_text("%s: %s copies %s, %s", finding->caller,
                         bp_page_count(transfer->round_trips, text),
                         transfer->direction == BP_H2D ? "of content that came from the device"
                                                       : "came back unchanged",
                         bp_page_bytes((double)transfer->round_trip_bytes, size)),
            bp_make_text("%s", transfer->direction == BP_H2D ? "keep it there"
                                                             : "the host has these bytes already"));
}

void bp_advise_transfers(struct bp_model *model) {
    double thread_s = model->category_thread_s[BP_TRANSFER];
    double rate = thread_s > 0 ? fmin(model->category_s[BP_TRANSFER] / thread_s, 1) : 1;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->transfers[i];
        char name[BP_ADVISE_NAME];
        struct bp_finding finding = {model, transfer, bp_advise_caller(model, transfer, name),
                                     rate};
        repeated_copies(&finding);
        if (transfer->direction > BP_D2H)
            continue;
        bp_finding_small_calls(&finding);
        /* Without device records nothing is known of what could be reached. */
        if (!(bp_finding_best_rate(&finding) > 0))
            continue;
        bp_finding_small_copies(&finding);
        pageable_copies(&finding);
        bp_finding_synchronous_copies(&finding);
        migrations(&finding);
    }
}
