/* SPDX-License-Identifier: MIT
 *
 * What could be saved on transfers, as sentences with figures: each sort of finding is one function
 * that looks at one row of transfers; advise.c calls them. Estimates use what the device itself has
 * shown: the rate of its best copy and the latency of its shortest. Only host time that was really
 * exposed can be saved, copies that were hidden cost nothing; and of a thread's time only its part
 * of the wall, since others were busy meanwhile.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/advise.h"
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
/* Part of the wall from which on an experiment is worth its trouble. */
#define WORTH_TRYING 0.05
/* Copies that lose less than this part to the best of them are as fast as it. */
#define LITTLE 0.2
/* Where the rate of pinned memory is known, less than this part is no gain. */
#define NO_GAIN 0.05
/* Of what an overlap saves: calls that take less need no word. */
#define WORTH_NAMING 0.1
/* A batch is copied in pieces of this many bytes. */
#define BATCH ((double)BP_LARGE_COPY)

static const char *const direction_words[] = {"to the device", "from the device",
                                              "within the device", "between devices", "set"};

struct finding {
    struct bp_model *model;
    const struct bp_model_transfer *transfer;
    const char *caller; /* who causes it, for people */
    double rate;        /* of a second that a thread was in a copy: what it is of the wall */
};

/* Takes the texts. */
static void advise(const struct finding *finding, double saves_s, uint64_t bytes, char *what,
                   char *why) {
    bp_advise(finding->model, finding->transfer->caller, saves_s, bytes, what, why);
}

static double best_rate(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    return finding->model->devices[transfer->device].best[transfer->direction];
}

static double large_device_s(const struct bp_model_transfer *transfer) {
    return fmax(transfer->device_s - transfer->small_s, 0);
}

/* Wall of the copies that are not small: those are a finding of their own. */
static double large_exposed_s(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    double large_s = large_device_s(transfer);
    return large_s > 0 ? finding->rate * transfer->exposed_s * large_s / transfer->device_s : 0;
}

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

/* What CUDA itself takes for one of the small copies. The same function may copy large ones, whose
 * calls take longer for reasons of their own: the small ones' are the shortest. */
static double call_s(const struct finding *finding) {
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
    double least_s = shortest_s(model, number, count) - exposed_s / (double)count;
    return fmax(fmin(own_s / (double)function->calls, least_s), 0);
}

static bool is_pageable(const struct bp_model_transfer *transfer) {
    uint32_t host = transfer->direction == BP_H2D ? transfer->source : transfer->target;
    return host == BP_MEMORY_PAGEABLE;
}

/* Large copies to or from the other kind of memory say nothing of this one. */
static bool is_alike(const struct finding *finding, const struct bp_model_transfer *other,
                     bool pageable) {
    return other->device == finding->transfer->device &&
           other->direction == finding->transfer->direction && is_pageable(other) == pageable &&
           other->source != BP_MEMORY_MANAGED && other->bytes > other->small_bytes;
}

/* Bytes per second of a large copy of the same kind of memory; where there was none, what any link
 * of the last ten years reaches. */
static double large_rate(const struct finding *finding) {
    const struct bp_model *model = finding->model;
    bool pageable = is_pageable(finding->transfer);
    double bytes = 0;
    double s = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (!is_alike(finding, other, pageable))
            continue;
        bytes += (double)(other->bytes - other->small_bytes);
        s += large_device_s(other);
    }
    if (pageable)
        return s > 0 ? bytes / s : PAGEABLE_RATE;
    return fmax(s > 0 ? bytes / s : best_rate(finding), PINNED_RATE);
}

/* What a small copy takes beyond its bytes. A shorter copy elsewhere has shown it; where these are
 * the shortest there are, their own time is less the bytes at the rate of a large copy. */
static double latency_of(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    double shown_s = is_pageable(transfer) ? device->pageable_s[transfer->direction]
                                           : device->pinned_s[transfer->direction];
    double bytes_s = (double)transfer->small_bytes / large_rate(finding);
    double rest_s = (transfer->small_s - bytes_s) / (double)transfer->small_count;
    if (shown_s > 0 && shown_s < SHORTER * transfer->min_s)
        return shown_s;
    return fmin(fmax(rest_s, 0), transfer->min_s);
}

/* What the time of the copy's call is of the wall. */
static double call_rate(const struct finding *finding) {
    uint32_t number = finding->transfer->call;
    return number == BP_NO_FUNCTION ? 1 : bp_function_wall_rate(&finding->model->functions[number]);
}

/* Without kernel records a blocking call's own time is taken for that of the kernels. */
static char *small_reason(double call, double latency_s, double each_s) {
    char texts[3][32];
    bool has_latency = bp_advise_time(latency_s, texts[1])[0] != '0';
    bp_advise_time(call, texts[0]);
    bp_advise_time(each_s - latency_s, texts[2]);
    return bp_make_text(
        "beside its bytes (%s) each takes its call%s%s%s%s%s%s: gather them and copy "
        "once",
        texts[2], call > 0 ? " (" : "", call > 0 ? texts[0] : "", call > 0 ? ")" : "",
        has_latency ? " and a latency (" : "", has_latency ? texts[1] : "", has_latency ? ")" : "");
}

/* Batching saves the latency of all copies but one per batch, as far as it was exposed, and the
 * calls. */
static void small_copies(const struct finding *finding) {
    char text[32];
    char bytes[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double count = (double)transfer->small_count;
    if (transfer->small_count < MANY || !(transfer->device_s > 0) ||
        transfer->source == BP_MEMORY_MANAGED) /* pages: see migrations */
        return;
    double latency_s = latency_of(finding);
    double batches = 1 + (double)transfer->small_bytes / BATCH;
    double call = call_s(finding);
    double each_s = finding->rate * latency_s * transfer->exposed_s / transfer->device_s +
                    call_rate(finding) * call;
    advise(finding, (count - batches) * each_s, transfer->small_bytes,
           bp_make_text("%s: %s small copies %s, %s on average", finding->caller,
                        bp_page_count(transfer->small_count, text),
                        direction_words[transfer->direction],
                        bp_page_bytes((double)transfer->small_bytes / count, bytes)),
           small_reason(call, latency_s, transfer->small_s / count));
}

/* Where every copy used pageable memory, the best of them says nothing about pinned memory. */
static bool knows_pinned(const struct finding *finding) {
    const struct bp_model *model = finding->model;
    for (uint32_t i = 0; i < model->transfer_count; i++)
        if (is_alike(finding, &model->transfers[i], false))
            return true;
    return false;
}

static void unknown_saving(const struct finding *finding, double bytes) {
    char size[32];
    char time[32];
    double exposed_s = large_exposed_s(finding);
    if (exposed_s < WORTH_TRYING * finding->model->wall_s)
        return;
    bp_advise_remark(
        finding->model,
        bp_make_text("%s: copies %s use pageable memory, %s in %s", finding->caller,
                     direction_words[finding->transfer->direction], bp_page_bytes(bytes, size),
                     bp_advise_time(exposed_s, time)),
        bp_make_text("no copy used pinned memory, so what it would save is not known; it needs no "
                     "staging and can be asynchronous: try cudaHostAlloc or pin_memory"));
}

/* As much less is exposed as the copies would be shorter. */
static void pageable_copies(const struct finding *finding) {
    char size[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double large_s = large_device_s(transfer);
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    if (!is_pageable(transfer) || bytes == 0 || !(large_s > 0))
        return;
    double gain = 1 - (double)bytes / best_rate(finding) / large_s;
    bool known = knows_pinned(finding);
    if (gain < LITTLE && !known)
        unknown_saving(finding, (double)bytes);
    if (gain < (known ? NO_GAIN : LITTLE))
        return;
    advise(finding, gain * large_exposed_s(finding), bytes,
           bp_make_text("%s: copies %s use pageable memory, %s", finding->caller,
                        direction_words[transfer->direction], bp_page_bytes((double)bytes, size)),
           bp_make_text("%.1f GB/s, the device has reached %.1f; %s pinned memory (cudaHostAlloc, "
                        "pin_memory) a copy needs no staging and can be asynchronous",
                        (double)bytes / large_s / 1e9, best_rate(finding) / 1e9,
                        transfer->direction == BP_H2D ? "from" : "to"));
}

static bool is_blocking(const struct bp_model_transfer *transfer) {
    return !(transfer->flags & BP_TRANSFER_ASYNC) && transfer->source != BP_MEMORY_MANAGED &&
           transfer->target != BP_MEMORY_MANAGED;
}

/* Device time of the large blocking copies of one direction; a single one comes before or after the
 * others for a reason. */
static double blocking_s(const struct finding *finding, uint32_t direction) {
    const struct bp_model *model = finding->model;
    double sum_s = 0;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (other->device == finding->transfer->device && other->direction == direction &&
            is_blocking(other) && other->count > 1)
            sum_s += large_device_s(other);
    }
    return sum_s;
}

/* What runs on the device at other times: all kernels, and copies the other way, whose engine is
 * another. Of both directions the shorter one is hidden behind the longer, not the longer behind
 * the shorter, too: so advice on both can be added. */
static double beside_s(const struct finding *finding, char *text, size_t size) {
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
                 direction_words[direction == BP_H2D ? BP_D2H : BP_H2D]);
    return compute_s + (shorter ? other_s : 0);
}

/* What CUDA itself took for the row's calls, of the wall: it, too, is spent while a copy runs if
 * that is asynchronous. */
static double calls_s(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->call == BP_NO_FUNCTION || finding->model->functions[transfer->call].calls == 0)
        return 0;
    const struct bp_function *call = &finding->model->functions[transfer->call];
    if (!strstr(call->name, "Memcpy")) /* a graph, or a trace's call that waited */
        return 0;
    double own_s = fmax(call->self_s - call->transfer_s - call->kernel_wait_s, 0);
    double copies = (double)(transfer->count - transfer->small_count);
    return call_rate(finding) * own_s * fmin(copies / (double)call->calls, 1);
}

/* An asynchronous call on pageable memory blocks all the same. */
static void synchronous_copies(const struct finding *finding) {
    char size[32];
    char time[32];
    char beside[120];
    char calls[80] = "";
    const struct bp_model_transfer *transfer = finding->transfer;
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    double most_s = beside_s(finding, beside, sizeof(beside));
    if (!is_blocking(transfer) || bytes == 0 || !(most_s > 0))
        return;
    double overlap_s = fmin(large_exposed_s(finding), most_s);
    double call = calls_s(finding);
    if (call > WORTH_NAMING * overlap_s)
        snprintf(calls, sizeof(calls), ", and the %s of their calls with the copies",
                 bp_advise_time(call, time));
    advise(finding, overlap_s + call, bytes,
           bp_make_text("%s: synchronous copies %s block the host, %s", finding->caller,
                        direction_words[transfer->direction], bp_page_bytes((double)bytes, size)),
           bp_make_text("with cudaMemcpyAsync%s and a second stream they could overlap with %s%s",
                        is_pageable(transfer) ? ", pinned memory" : "", beside, calls));
}

static void migrations(const struct finding *finding) {
    char text[32];
    char sizes[2][32];
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->source != BP_MEMORY_MANAGED || transfer->count == 0)
        return;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    double bytes = (double)transfer->bytes;
    double once_s = bytes / best_rate(finding) + device->latency_s[transfer->direction];
    double cost_s = transfer->exposed_s + transfer->faulted_s;
    advise(finding, finding->rate * (cost_s - once_s), transfer->bytes,
           bp_make_text("managed memory: %s migrations %s, %s",
                        bp_page_count(transfer->count, text), direction_words[transfer->direction],
                        bp_page_bytes(bytes, sizes[0])),
           bp_make_text("%s at a time on page faults; cudaMemPrefetchAsync moves them at once",
                        bp_page_bytes(bytes / (double)transfer->count, sizes[1])));
}

/* The wall of some of the copies: by their time on the device, or, where that is not known, by
 * their bytes. */
static double exposed_of(const struct finding *finding, double s, uint64_t bytes) {
    const struct bp_model_transfer *transfer = finding->transfer;
    double part = transfer->device_s > 0 ? s / transfer->device_s
                  : transfer->bytes > 0  ? (double)bytes / (double)transfer->bytes
                                         : 0;
    return finding->rate * transfer->exposed_s * fmin(part, 1);
}

/* Known only if contents were hashed. */
static void repeated_copies(const struct finding *finding) {
    char text[32];
    char size[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->duplicates)
        advise(finding, exposed_of(finding, transfer->duplicate_s, transfer->duplicate_bytes),
               transfer->duplicate_bytes,
               bp_make_text("%s: %s copies of content that was there already, %s", finding->caller,
                            bp_page_count(transfer->duplicates, text),
                            bp_page_bytes((double)transfer->duplicate_bytes, size)),
               bp_make_text("keep it on the device"));
    if (transfer->round_trips)
        advise(finding, exposed_of(finding, transfer->round_trip_s, transfer->round_trip_bytes),
               transfer->round_trip_bytes,
               bp_make_text("%s: %s copies came back unchanged, %s", finding->caller,
                            bp_page_count(transfer->round_trips, text),
                            bp_page_bytes((double)transfer->round_trip_bytes, size)),
               bp_make_text("the host has these bytes already"));
}

void bp_advise_transfers(struct bp_model *model) {
    double thread_s = model->category_thread_s[BP_TRANSFER];
    double rate = thread_s > 0 ? fmin(model->category_s[BP_TRANSFER] / thread_s, 1) : 1;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->transfers[i];
        char name[BP_ADVISE_NAME];
        struct finding finding = {model, transfer, bp_advise_caller(model, transfer, name), rate};
        repeated_copies(&finding);
        /* Without device records nothing is known of what could be reached. */
        if (transfer->direction > BP_D2H || !(best_rate(&finding) > 0))
            continue;
        small_copies(&finding);
        pageable_copies(&finding);
        synchronous_copies(&finding);
        migrations(&finding);
    }
}
