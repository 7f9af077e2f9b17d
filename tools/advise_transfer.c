/* SPDX-License-Identifier: MIT
 *
 * What could be saved on transfers and allocation, as sentences with figures: each sort of finding
 * is one function that looks at one row of transfers; advise.c calls them. Estimates use what the
 * device itself has shown: the rate of its best copy and the latency of its shortest. Only host
 * time that was really exposed can be saved; copies that were hidden cost nothing.
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
/* Bytes per second that PCIe 3.0 x16 gives large copies at least, of pageable and pinned memory. */
#define PAGEABLE_RATE 6e9
#define PINNED_RATE 12e9
/* A latency below this part of the shortest copy is another copy's. */
#define SHORTER 0.99
/* Part of the wall from which on an experiment is worth its trouble. */
#define WORTH_TRYING 0.05
/* Copies that lose less than this part to the best of them are as fast as it. */
#define LITTLE 0.2
/* A batch is copied in pieces of this many bytes. */
#define BATCH ((double)BP_LARGE_COPY)

static const char *const direction_words[] = {"to the device", "from the device",
                                              "within the device", "between devices", "set"};

struct finding {
    struct bp_model *model;
    const struct bp_model_transfer *transfer; /* NULL if it is about a function itself */
    uint32_t function;                        /* that causes it */
    const char *caller;                       /* its name */
};

/* Takes the texts. */
static void advise(const struct finding *finding, double saves_s, uint64_t bytes, char *what,
                   char *why) {
    bp_advise(finding->model, finding->function, saves_s, bytes, what, why);
}

static double best_rate(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    return finding->model->devices[transfer->device].best[transfer->direction];
}

/* Host time of the copies that are not small: those are a finding of their own. */
static double large_exposed_s(const struct bp_model_transfer *transfer) {
    double large_s = transfer->device_s - transfer->small_s;
    return large_s > 0 ? transfer->exposed_s * large_s / transfer->device_s : 0;
}

static double ideal_s(const struct finding *finding, double bytes, double copies) {
    const struct bp_model_transfer *transfer = finding->transfer;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    return bytes / best_rate(finding) + copies * device->latency_s[transfer->direction];
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

/* What a small copy takes beyond its bytes. A shorter copy elsewhere has shown it; where these are
 * the shortest there are, their own time is less the bytes at the rate of a large copy, or, as the
 * best may be one of these, at what any link of the last ten years reaches. */
static double latency_of(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    const struct bp_model_device *device = &finding->model->devices[transfer->device];
    double shown_s = device->latency_s[transfer->direction];
    double least_rate = is_pageable(transfer) ? PAGEABLE_RATE : PINNED_RATE;
    double rate = best_rate(finding) > least_rate ? best_rate(finding) : least_rate;
    double rest_s =
        (transfer->small_s - (double)transfer->small_bytes / rate) / (double)transfer->small_count;
    if (shown_s > 0 && shown_s < SHORTER * transfer->min_s)
        return shown_s;
    return rest_s < 0 ? 0 : rest_s < transfer->min_s ? rest_s : transfer->min_s;
}

/* Batching saves the latency of all copies but one per batch, as far as it was exposed, and the
 * calls. */
static void small_copies(const struct finding *finding) {
    char text[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double count = (double)transfer->small_count;
    if (transfer->small_count < MANY || !(transfer->device_s > 0) ||
        transfer->source == BP_MEMORY_MANAGED) /* pages: see migrations */
        return;
    double latency_s = latency_of(finding);
    double batches = 1 + (double)transfer->small_bytes / BATCH;
    double call = call_s(finding);
    double each_s = latency_s * transfer->exposed_s / transfer->device_s + call;
    double saves_s = (count - batches) * each_s;
    advise(finding, saves_s, transfer->small_bytes,
           bp_make_text("%s: %s small copies %s, %.0f bytes on average", finding->caller,
                        bp_page_count(transfer->small_count, text),
                        direction_words[transfer->direction],
                        (double)transfer->small_bytes / count),
           bp_make_text("each costs its call (%.1f µs) and its latency (%.1f of %.1f µs), not its "
                        "bytes; gather them and copy once",
                        1e6 * call, 1e6 * latency_s, 1e6 * transfer->small_s / count));
}

/* Where every copy used pageable memory, the best of them says nothing about pinned memory. */
static bool knows_pinned(const struct finding *finding) {
    const struct bp_model *model = finding->model;
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *other = &model->transfers[i];
        if (other->device == finding->transfer->device &&
            other->direction == finding->transfer->direction && !is_pageable(other))
            return true;
    }
    return false;
}

static void unknown_saving(const struct finding *finding, double bytes) {
    struct bp_model *model = finding->model;
    double exposed_s = large_exposed_s(finding->transfer);
    if (exposed_s < WORTH_TRYING * model->wall_s)
        return;
    bp_advise_remark(
        model,
        bp_make_text("%s: copies %s use pageable memory, %.1f MB in %.3g s", finding->caller,
                     direction_words[finding->transfer->direction], bytes / 1e6, exposed_s),
        bp_make_text("no copy used pinned memory, so what it would save is not known; it needs no "
                     "staging and can be asynchronous: try cudaHostAlloc or pin_memory"));
}

static void pageable_copies(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    if (!is_pageable(transfer) || transfer->bytes == transfer->small_bytes)
        return;
    double large_s = transfer->device_s - transfer->small_s;
    double bytes = (double)(transfer->bytes - transfer->small_bytes);
    double saves_s = large_exposed_s(transfer) - ideal_s(finding, bytes, 0);
    if (saves_s < LITTLE * large_exposed_s(transfer) && !knows_pinned(finding)) {
        unknown_saving(finding, bytes);
        return;
    }
    advise(
        finding, saves_s, transfer->bytes - transfer->small_bytes,
        bp_make_text("%s: copies %s use pageable memory, %.1f MB", finding->caller,
                     direction_words[transfer->direction], bytes / 1e6),
        bp_make_text("%.1f GB/s, the device has reached %.1f; from pinned memory (cudaHostAlloc, "
                     "pin_memory) a copy needs no staging and can be asynchronous",
                     large_s > 0 ? bytes / large_s / 1e9 : 0, best_rate(finding) / 1e9));
}

/* At most all kernels run meanwhile. An asynchronous call on pageable memory blocks all the same.
 */
static void synchronous_copies(const struct finding *finding) {
    const struct bp_model_transfer *transfer = finding->transfer;
    double compute_s = finding->model->devices[transfer->device].compute_s;
    if (transfer->flags & BP_TRANSFER_ASYNC || transfer->source == BP_MEMORY_MANAGED)
        return;
    double saves_s = large_exposed_s(transfer);
    uint64_t bytes = transfer->bytes - transfer->small_bytes;
    advise(
        finding, saves_s < compute_s ? saves_s : compute_s, bytes,
        bp_make_text("%s: synchronous copies %s block the host, %.1f MB", finding->caller,
                     direction_words[transfer->direction], (double)bytes / 1e6),
        bp_make_text("with cudaMemcpyAsync, pinned memory and a second stream they could overlap "
                     "with up to %.3g s of kernels",
                     compute_s));
}

static void migrations(const struct finding *finding) {
    char text[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    if (transfer->source != BP_MEMORY_MANAGED || transfer->count == 0)
        return;
    double cost_s = transfer->exposed_s + transfer->faulted_s;
    double saves_s = cost_s - ideal_s(finding, (double)transfer->bytes, 1);
    advise(finding, saves_s, transfer->bytes,
           bp_make_text("managed memory: %s migrations %s, %.1f MB",
                        bp_page_count(transfer->count, text), direction_words[transfer->direction],
                        (double)transfer->bytes / 1e6),
           bp_make_text("%.0f kB at a time on page faults; cudaMemPrefetchAsync moves them at once",
                        (double)transfer->bytes / (double)transfer->count / 1e3));
}

/* Known only if contents were hashed. */
static void repeated_copies(const struct finding *finding) {
    char text[32];
    const struct bp_model_transfer *transfer = finding->transfer;
    double rate = transfer->device_s > 0 ? transfer->exposed_s / transfer->device_s : 0;
    if (transfer->duplicates)
        advise(finding, transfer->duplicate_s * rate, transfer->duplicate_bytes,
               bp_make_text("%s: %s copies of content that was there already, %.1f MB",
                            finding->caller, bp_page_count(transfer->duplicates, text),
                            (double)transfer->duplicate_bytes / 1e6),
               bp_make_text("keep it on the device"));
    if (transfer->round_trips)
        advise(finding, transfer->round_trip_s * rate, transfer->round_trip_bytes,
               bp_make_text("%s: %s copies came back unchanged, %.1f MB", finding->caller,
                            bp_page_count(transfer->round_trips, text),
                            (double)transfer->round_trip_bytes / 1e6),
               bp_make_text("the host has these bytes already"));
}

/* Allocation synchronises and is slow: a program that allocates again and again need not. */
static void allocations(struct bp_model *model, uint32_t number) {
    char text[32];
    static const char *const words[] = {"cudaMalloc", "cudaFree",  "cudaHostAlloc",
                                        "cuMemAlloc", "cuMemFree", "cuMemHostAlloc"};
    const struct bp_function *function = &model->functions[number];
    struct finding finding = {model, NULL, number, function->name};
    bool allocates = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        allocates |= strncmp(function->name, words[i], strlen(words[i])) == 0;
    if (!function->cuda || !allocates || function->calls < MANY)
        return;
    double saves_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    saves_s *= 1 - 1 / (double)function->calls;
    advise(
        &finding, saves_s, 0,
        bp_make_text("%s: called %s times", function->name, bp_page_count(function->calls, text)),
        bp_make_text("keep the memory, or take it from a pool (cudaMallocAsync)"));
}

void bp_advise_transfers(struct bp_model *model) {
    for (uint32_t i = 0; i < model->transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->transfers[i];
        char name[BP_ADVISE_NAME];
        struct finding finding = {model, transfer, transfer->caller,
                                  bp_advise_name(model, transfer->caller, name)};
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

void bp_advise_allocations(struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++)
        allocations(model, i);
}
