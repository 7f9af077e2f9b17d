/* SPDX-License-Identifier: MIT
 *
 * What could be saved on transfers, as sentences with figures: each sort of advice is one function
 * that looks at one row of transfers, some in files of their own. Estimates use what the device
 * itself has shown: the rate of its best copy and the latency of its shortest. Only host time that
 * was really exposed can be saved, copies that were hidden cost nothing; and of a thread's time
 * only its part of the wall, since others were busy meanwhile.
 */
#include "tools/analyze/advise/transfer.h"

#include <math.h>
#include <stdlib.h>

#include "tools/base/page.h"
#include "tools/base/text.h"

/* Copies that lose less than this part to the best of them are as fast as it. */
#define LITTLE 0.2
/* Where the rate of pinned memory is known, less than this part is no gain. */
#define NO_GAIN 0.05

const char *const bp_direction_words[] = {"to the device", "from the device", "within the device",
                                          "between devices", "set"};

void bp_copies_advise(const struct bp_copies *copies, double saves_s, uint64_t bytes, char *what,
                      char *why) {
    bp_advise(copies->analysis, copies->transfer->caller, saves_s, bytes, what, why);
}

double bp_copies_best_rate(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    return copies->model->cuda.devices[transfer->device].best[transfer->direction];
}

double bp_copies_large_s(const struct bp_model_transfer *transfer) {
    return fmax(transfer->device_s - transfer->small_s, 0);
}

/* Wall of the copies that are not small: those are a copies of their own. */
double bp_copies_exposed_s(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    double large_s = bp_copies_large_s(transfer);
    return large_s > 0 ? copies->rate * transfer->exposed_s * large_s / transfer->device_s : 0;
}

bool bp_copies_is_pageable(const struct bp_model_transfer *transfer) {
    uint32_t host = transfer->direction == BP_H2D ? transfer->source : transfer->target;
    return host == BP_MEMORY_PAGEABLE;
}

/* Large copies to or from the other kind of memory say nothing of this one. */
bool bp_copies_is_alike(const struct bp_copies *copies, const struct bp_model_transfer *other,
                        bool pageable) {
    return other->device == copies->transfer->device &&
           other->direction == copies->transfer->direction &&
           bp_copies_is_pageable(other) == pageable && other->source != BP_MEMORY_MANAGED &&
           other->bytes > other->small_bytes;
}

/* What the time of the copy's call is of the wall. */
double bp_copies_call_rate(const struct bp_copies *copies) {
    uint32_t number = copies->transfer->call;
    return number == BP_NO_FUNCTION ? 1 : bp_function_wall_rate(&copies->model->functions[number]);
}

/* Where every copy used pageable memory, the best of them says nothing about pinned memory. */
static bool knows_pinned(const struct bp_copies *copies) {
    const struct bp_model *model = copies->model;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++)
        if (bp_copies_is_alike(copies, &model->cuda.transfers[i], false))
            return true;
    return false;
}

static void unknown_saving(const struct bp_copies *copies, double bytes) {
    double exposed_s = bp_copies_exposed_s(copies);
    if (exposed_s < BP_WORTH_TRYING * copies->model->wall.total_s)
        return;
    bp_advise_remark(
        copies->analysis,
        bp_make_text("%s: copies %s use pageable memory, %s in %s", copies->caller,
                     bp_direction_words[copies->transfer->direction], BP_BYTES(bytes),
                     BP_SENTENCE_TIME(exposed_s)),
        bp_make_text("no copy used pinned memory, so the saving is unknown; it needs no staging "
                     "and can be asynchronous: try cudaHostAlloc or pin_memory"));
}

/* As much less is exposed as the copies would be shorter. */
static void pageable_copies(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    double large_s = bp_copies_large_s(transfer);
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    if (!bp_copies_is_pageable(transfer) || bytes == 0 || !(large_s > 0))
        return;
    double gain = 1 - (double)bytes / bp_copies_best_rate(copies) / large_s;
    bool known = knows_pinned(copies);
    if (gain < LITTLE && !known)
        unknown_saving(copies, (double)bytes);
    if (gain < (known ? NO_GAIN : LITTLE))
        return;
    bp_copies_advise(
        copies, gain * bp_copies_exposed_s(copies), bytes,
        bp_make_text("%s: copies %s use pageable memory, %s", copies->caller,
                     bp_direction_words[transfer->direction], BP_BYTES((double)bytes)),
        bp_make_text("%.1f GB/s, the device has reached %.1f; %s pinned memory (cudaHostAlloc, "
                     "pin_memory) a copy needs no staging and can be asynchronous",
                     (double)bytes / large_s / 1e9, bp_copies_best_rate(copies) / 1e9,
                     transfer->direction == BP_H2D ? "from" : "to"));
}

static void migrations(const struct bp_copies *copies) {
    char sizes[2][32];
    const struct bp_model_transfer *transfer = copies->transfer;
    if (transfer->source != BP_MEMORY_MANAGED || transfer->count == 0)
        return;
    const struct bp_model_device *device = &copies->model->cuda.devices[transfer->device];
    double bytes = (double)transfer->bytes;
    double once_s = bytes / bp_copies_best_rate(copies) + device->latency_s[transfer->direction];
    double cost_s = transfer->exposed_s + transfer->faulted_s;
    bp_copies_advise(
        copies, copies->rate * (cost_s - once_s), transfer->bytes,
        bp_make_text("managed memory: %s migrations %s, %s", BP_COUNT(transfer->count),
                     bp_direction_words[transfer->direction], bp_page_bytes(bytes, sizes[0])),
        bp_make_text("%s at a time on page faults; cudaMemPrefetchAsync moves them at once",
                     bp_page_bytes(bytes / (double)transfer->count, sizes[1])));
}

/* The wall of some of the copies: by their time on the device, or, where that is not known, by
 * their bytes; and that of their calls, which nobody makes for what is not copied. */
static double cost_of(const struct bp_copies *copies, uint64_t count, double s, uint64_t bytes) {
    const struct bp_model_transfer *transfer = copies->transfer;
    double part = transfer->device_s > 0 ? s / transfer->device_s
                  : transfer->bytes > 0  ? (double)bytes / (double)transfer->bytes
                                         : 0;
    return copies->rate * transfer->exposed_s * fmin(part, 1) +
           bp_copies_call_rate(copies) * bp_copies_call_s(copies) * (double)count;
}

/* Known only if contents were hashed. */
static void repeated_copies(const struct bp_copies *copies) {
    const struct bp_model_transfer *transfer = copies->transfer;
    if (transfer->duplicates)
        bp_copies_advise(
            copies,
            cost_of(copies, transfer->duplicates, transfer->duplicate_s, transfer->duplicate_bytes),
            transfer->duplicate_bytes,
            bp_make_text("%s: %s copies of content that was there already, %s", copies->caller,
                         BP_COUNT(transfer->duplicates),
                         BP_BYTES((double)transfer->duplicate_bytes)),
            bp_make_text("keep it on the device"));
    if (transfer->round_trips)
        bp_copies_advise(
            copies,
            cost_of(copies, transfer->round_trips, transfer->round_trip_s,
                    transfer->round_trip_bytes),
            transfer->round_trip_bytes,
            bp_make_text("%s: %s copies %s, %s", copies->caller, BP_COUNT(transfer->round_trips),
                         transfer->direction == BP_H2D ? "of content that came from the device"
                                                       : "came back unchanged",
                         BP_BYTES((double)transfer->round_trip_bytes)),
            bp_make_text("%s", transfer->direction == BP_H2D ? "keep it there"
                                                             : "the host has these bytes already"));
}

static void advise_row(const struct bp_copies *copies) {
    repeated_copies(copies);
    if (copies->transfer->direction > BP_D2H)
        return;
    bp_copies_small_calls(copies);
    bp_copies_stalled(copies);
    /* Without device records nothing is known of what could be reached. */
    if (!(bp_copies_best_rate(copies) > 0))
        return;
    bp_copies_small(copies);
    pageable_copies(copies);
    bp_copies_synchronous(copies);
    migrations(copies);
}

void bp_advise_transfers(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    double thread_s = model->thread_time.category_s[BP_TRANSFER];
    double rate = thread_s > 0 ? fmin(model->wall.category_s[BP_TRANSFER] / thread_s, 1) : 1;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->cuda.transfers[i];
        char *caller = bp_advise_caller(model, transfer);
        advise_row(&(struct bp_copies){analysis, model, transfer, caller, rate});
        free(caller);
    }
}
