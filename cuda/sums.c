/* SPDX-License-Identifier: MIT
 *
 * What the profile keeps of device work and CUDA calls: sums by calling context, written in place,
 * so that they are in the file when the process is killed. Contexts beyond a table's limit go to
 * the unknown one, and the profile says so.
 */
#include "cuda/sums.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/attribute.h"
#include "cuda/internal.h"
#include "cuda/slot.h"
#include "cuda/table.h"
#include "cuda/thread.h"
#include "interpose/hook/source.h"

#define NAMES 4096   /* of kernels that are told apart */
#define RESERVE 64   /* items for unknown contexts, when a table is full of known ones */
#define LONGEST 1000 /* of a kernel's name; C++ templates have longer ones */

struct bp_sums bp_sums = {
    .devices = {.kind = BP_DEVICES, .key_size = 4, .limit = BP_ATTRIBUTE_DEVICES},
    .transfers = {.kind = BP_TRANSFERS, .key_size = 16, .limit = 4096},
    .kernels = {.kind = BP_KERNELS, .key_size = 16, .limit = 8192},
    .splits = {.kind = BP_SPLITS, .key_size = 8, .limit = 16384},
    .waits = {.kind = BP_WAITS, .key_size = 16, .limit = 16384},
    .asked = {.kind = BP_ASKED, .key_size = 16, .limit = 8192},
};

static struct {
    uint64_t hashes[2 * NAMES]; /* of names, open addressing; 0 is free */
    uint32_t strings[2 * NAMES];
    uint32_t name_count;
    uint32_t other;           /* the string for all further names */
    uint8_t blocks[16384];    /* by split: its calls wait for the device */
    uint32_t launches[16384]; /* by split: the node of its thread's last launch */
} state;

/* `context` is where in the key (thread, node) are. */
static uint32_t get(struct bp_cuda_table *table, uint32_t *key, unsigned context) {
    if (table->count + RESERVE < table->limit)
        return bp_cuda_table_get(table, key);
    uint32_t index = bp_cuda_table_find(table, key);
    if (index != BP_CUDA_NONE)
        return index;
    key[context] = BP_NO_THREAD;
    key[context + 1] = BP_NO_NODE;
    if (bp_sums.collector)
        bp_sums.collector->flags |= BP_COLLECTOR_FULL;
    return bp_cuda_table_get(table, key);
}

static void extend(uint64_t *min, uint64_t *max, uint64_t time, uint64_t count) {
    if (count == 0 || time < *min)
        *min = time;
    if (time > *max)
        *max = time;
}

static struct bp_device *device_of(uint32_t device) {
    uint32_t index = bp_cuda_table_get(&bp_sums.devices, &device);
    return index == BP_CUDA_NONE ? NULL : bp_sums.devices.items[index];
}

static void note_speed(const struct bp_work_record *work, uint64_t time) {
    struct bp_device *device = device_of(work->device);
    if (!device || !time)
        return;
    unsigned d = work->direction;
    int pageable = work->source == BP_MEMORY_PAGEABLE || work->target == BP_MEMORY_PAGEABLE;
    uint64_t *latency = pageable ? &device->latency_pageable[d] : &device->latency_pinned[d];
    uint64_t speed = (uint64_t)((double)work->bytes * (double)bp_cuda.ticks_per_s / (double)time);
    /* spare[d] is 1 once there was a large copy. */
    if (work->bytes >= BP_LARGE_COPY && !(device->spare[0] >> d & 1)) {
        device->best[d] = 0;
        device->spare[0] |= UINT64_C(1) << d;
    }
    if ((work->bytes >= BP_LARGE_COPY || !(device->spare[0] >> d & 1)) && speed > device->best[d])
        device->best[d] = speed;
    if (work->bytes <= BP_TINY_COPY && (!*latency || time < *latency))
        *latency = time;
}

static uint32_t transfer_of(const struct bp_work_record *work) {
    struct bp_transfer key = {.thread = work->thread,
                              .node = work->node,
                              .device = work->device,
                              .direction = work->direction,
                              .source = work->source,
                              .target = work->target,
                              .flags = work->flags};
    return get(&bp_sums.transfers, &key.thread, 0);
}

uint32_t bp_sums_transfer(const struct bp_work_record *work) {
    uint32_t index = transfer_of(work);
    struct bp_transfer *transfer = bp_sums_transfer_at(index);
    if (!transfer)
        return BP_CUDA_NONE;
    bp_transfer_copy(transfer, work->bytes, work->end - work->start);
    if (!work->half)
        note_speed(work, work->end - work->start);
    return index;
}

/* Its time counts, the copy and its bytes do not. */
uint32_t bp_sums_second(const struct bp_work_record *work, uint32_t first) {
    const struct bp_transfer *counted = bp_sums_transfer_at(first);
    uint32_t index = counted && counted->direction == BP_P2P ? first : transfer_of(work);
    struct bp_transfer *transfer = bp_sums_transfer_at(index);
    if (transfer)
        transfer->device_time += work->end - work->start;
    device_of(work->device);
    return index;
}

struct bp_transfer *bp_sums_transfer_at(uint32_t index) {
    return index == BP_CUDA_NONE ? NULL : bp_sums.transfers.items[index];
}

static uint32_t new_string(const char *name) {
    char text[LONGEST + 1] = "";
    size_t length = strnlen(name, LONGEST);
    memcpy(text, name, length);
    uint64_t mask = bp_lock(&bp_process.lock);
    uint32_t string = bp_writer_string(&bp_process.writer, text);
    bp_unlock(&bp_process.lock, mask);
    return string;
}

static uint32_t name_of(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    hash |= !hash;
    uint32_t slot = (uint32_t)(hash >> 32) % (2 * NAMES);
    while (state.hashes[slot] && state.hashes[slot] != hash)
        slot = (slot + 1) % (2 * NAMES);
    if (state.hashes[slot])
        return state.strings[slot];
    if (state.name_count == NAMES) {
        if (!state.other)
            state.other = new_string("(other kernels)");
        return state.other;
    }
    state.hashes[slot] = hash;
    state.strings[slot] = new_string(name);
    state.name_count++;
    return state.strings[slot];
}

uint32_t bp_sums_kernel(const struct bp_work_record *work, const char *name) {
    struct bp_kernel key = {.name = name_of(name ? name : "(unnamed kernel)"),
                            .thread = work->thread,
                            .node = work->node,
                            .device = work->device};
    uint32_t index = get(&bp_sums.kernels, &key.name, 1);
    if (index == BP_CUDA_NONE)
        return index;
    struct bp_kernel *kernel = bp_sums.kernels.items[index];
    uint64_t time = work->end - work->start;
    extend(&kernel->min, &kernel->max, time, kernel->count);
    kernel->count++;
    kernel->device_time += time;
    device_of(work->device);
    return index;
}

static uint32_t split_of(uint32_t thread, uint32_t node) {
    uint32_t key[2] = {thread, node};
    return get(&bp_sums.splits, key, 0);
}

void bp_sums_call(const struct bp_queued_call *call, uint32_t launch_node, unsigned ended) {
    uint32_t index = split_of(call->interval.thread, call->interval.node);
    if (index == BP_CUDA_NONE)
        return;
    struct bp_split *split = bp_sums.splits.items[index];
    split->calls += ended;
    split->own += ended ? call->own : 0;
    state.blocks[index] = bp_cuda_blocks(call->class) != 0;
    state.launches[index] = launch_node;
}

struct bp_host_sums bp_sums_host(const struct bp_work_record *work) {
    struct bp_host_sums to = {.transfer = transfer_of(work)};
    uint32_t split = split_of(work->thread, work->node);
    if (split != BP_CUDA_NONE)
        to.split = bp_sums.splits.items[split];
    return to;
}

void bp_sums_host_copy(const struct bp_host_sums *to, const struct bp_work_record *work, int blocks,
                       uint64_t own) {
    uint64_t time = blocks ? work->end - work->start : 0;
    struct bp_transfer *transfer = bp_sums_transfer_at(to->transfer);
    if (transfer) {
        bp_transfer_copy(transfer, work->bytes, work->end - work->start);
        transfer->exposed += time;
    }
    if (!to->split)
        return;
    to->split->calls++;
    to->split->time += time;
    to->split->transfer += time;
    to->split->own += own;
    bp_source_spent(work->thread, work->start, time, time, 0);
}

void bp_sums_own(uint32_t thread, uint32_t node, uint64_t own) {
    uint32_t index = split_of(thread, node);
    if (index != BP_CUDA_NONE)
        ((struct bp_split *)bp_sums.splits.items[index])->own += own;
}

static void add_wait(const struct bp_charge *charge, uint32_t thread, uint32_t node) {
    uint32_t key[4] = {charge->thread, charge->node, thread, node};
    uint32_t index = get(&bp_sums.waits, key, 0);
    if (index != BP_CUDA_NONE)
        ((struct bp_wait *)bp_sums.waits.items[index])->time += charge->time;
}

static void charge_wait(const struct bp_charge *charge) {
    struct bp_kernel *kernel =
        charge->owner == BP_CUDA_NONE ? NULL : bp_sums.kernels.items[charge->owner];
    if (kernel)
        kernel->wait += charge->time;
    add_wait(charge, kernel ? kernel->thread : BP_NO_THREAD, kernel ? kernel->node : BP_NO_NODE);
}

/* Without kernel records: a call that blocks and is not copying waits for a kernel, most likely for
 * the last one that its thread launched. */
static int is_unexplained_wait(uint32_t split) {
    return bp_cuda.mode == BP_CUDA_TRANSFERS && state.blocks[split];
}

/* To the copy that the call asked for, whose record has come by now: time is attributed up to the
 * oldest call without. */
static void charge_copy(const struct bp_charge *charge, int waits) {
    const struct bp_slot *slot = bp_slot_get(charge->mark);
    struct bp_transfer *transfer =
        slot && slot->transfer ? bp_sums_transfer_at(slot->transfer - 1) : NULL;
    if (!transfer)
        return;
    transfer->call_time += charge->time;
    transfer->call_moving += charge->kind == BP_CHARGE_TRANSFER ? charge->time : 0;
    transfer->call_wait += waits ? charge->time : 0;
}

void bp_sums_charge(void *unused, const struct bp_charge *charge) {
    (void)unused;
    struct bp_transfer *transfer = NULL;
    if (charge->kind == BP_CHARGE_TRANSFER || charge->kind == BP_CHARGE_HIDDEN)
        transfer = bp_sums_transfer_at(charge->owner);
    if (charge->kind == BP_CHARGE_HIDDEN) {
        if (transfer)
            transfer->hidden += charge->time;
        return;
    }
    if (transfer)
        transfer->exposed += charge->time;
    if (charge->kind == BP_CHARGE_WAIT)
        charge_wait(charge);
    uint32_t index = split_of(charge->thread, charge->node);
    int unexplained =
        charge->kind == BP_CHARGE_OVERHEAD && index != BP_CUDA_NONE && is_unexplained_wait(index);
    charge_copy(charge, unexplained || charge->kind == BP_CHARGE_WAIT);
    if (index == BP_CUDA_NONE)
        return;
    struct bp_split *split = bp_sums.splits.items[index];
    split->time += charge->time;
    split->transfer += charge->kind == BP_CHARGE_TRANSFER ? charge->time : 0;
    split->wait += charge->kind == BP_CHARGE_WAIT ? charge->time : 0;
    bp_source_spent(charge->thread, charge->began, charge->time,
                    charge->kind == BP_CHARGE_TRANSFER ? charge->time : 0,
                    charge->kind == BP_CHARGE_WAIT ? charge->time : 0);
    if (unexplained) {
        uint32_t launch = state.launches[index];
        split->wait += charge->time;
        add_wait(charge, launch == BP_NO_NODE ? BP_NO_THREAD : charge->thread, launch);
    }
}

void bp_sums_busy(const struct bp_window *window) {
    for (uint32_t i = 0; i < bp_sums.devices.count; i++) {
        struct bp_device *device = bp_sums.devices.items[i];
        uint32_t at =
            device->index < BP_ATTRIBUTE_DEVICES ? device->index : BP_ATTRIBUTE_DEVICES - 1;
        device->busy = window->busy[at].any;
        device->busy_copy = window->busy[at].copy;
        device->busy_compute = window->busy[at].compute;
    }
}
