/* SPDX-License-Identifier: MIT
 *
 * Where the pages of managed memory are, and their moves: when the program asks for it, before a
 * kernel that has a pointer to them, and when the program says that it touches them. Its accesses
 * as such are not seen: what a kernel has used stays on the device. Nothing is copied, all is one
 * memory.
 *
 * What is touched comes as CUPTI told of a T4 (nsys-t4-managed): the page of 4 KiB first, then its
 * neighbours, of each block of 2 MiB first 64 KiB and then as much again as is there already.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

#define PAGE ((size_t)64 << 10)
#define PAGES(size) (((size) + PAGE - 1) / PAGE)
#define LONGEST ((size_t)2 << 20) /* pages that move as one, as CUPTI tells of them */
#define BLOCK (LONGEST / PAGE)
#define TOUCHED ((size_t)4 << 10)
#define FAULT_NS 10000 /* until the host's fault is understood: an estimate */
#define HOST (-1)

/* CUPTI's numbers. */
enum cause { ASKED_FOR = 1, USED = 2, NEIGHBOURS = 3 };

/* Pages that move for one reason. */
struct move {
    const struct bp_sim_region *region;
    struct bp_sim_stream *stream;
    int to;
    enum cause cause;
};

signed char *bp_sim_managed_new(size_t size) {
    signed char *home = malloc(PAGES(size));
    return home ? memset(home, HOST, PAGES(size)) : NULL;
}

static enum bp_sim_copy_kind kind_of(int from, int to) {
    return from == HOST ? BP_SIM_HTOD : to == HOST ? BP_SIM_DTOH : BP_SIM_PTOP;
}

/* One record, of bytes of the region. */
static void move_bytes(const struct move *move, int from, size_t start, size_t end,
                       enum cause cause) {
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_MIGRATION,
        .device = (uint32_t)(move->to == HOST ? from : move->to),
        .stream = move->stream->id,
        .bytes = end - start,
        .address = move->region->start + start,
        .copy = kind_of(from, move->to),
        .source = BP_SIM_MANAGED,
        .target = BP_SIM_MANAGED,
        .source_device = (uint32_t)from,
        .target_device = (uint32_t)move->to,
        .async = true,
        .value = cause,
    };
    struct bp_sim_device *device = &bp_sim_model.device[record.device];
    const struct bp_sim_properties *p = device->properties;
    bool up = record.copy == BP_SIM_HTOD;
    uint64_t length = (uint64_t)p->copy_latency_ns +
                      record.bytes * 1000 / (uint64_t)(up ? p->h2d_mbs : p->d2h_mbs);
    record.start = bp_sim_place(move->stream, up ? &device->upload : &device->download,
                                (uint64_t)p->launch_latency_ns, length);
    record.end = record.start + length;
    bp_sim_emit(&record);
}

static void move_run(const struct move *move, size_t first, size_t count) {
    const struct bp_sim_region *region = move->region;
    size_t start = first * PAGE, end = (first + count) * PAGE;
    int from = region->home[first];
    end = end < region->size ? end : region->size;
    size_t touched = move->cause == ASKED_FOR || end - start < TOUCHED ? end : start + TOUCHED;
    move_bytes(move, from, start, touched, move->cause);
    if (touched < end)
        move_bytes(move, from, touched, end, NEIGHBOURS);
    memset(region->home + first, move->to, count);
}

/* Pages that come with the first: all of them if they were asked for, else as many as are before it
 * in its block, at least one. */
static size_t at_once(const struct move *move, size_t first) {
    size_t before = first % BLOCK;
    return move->cause == ASKED_FOR ? BLOCK : before ? before : 1;
}

/* Pages from `first` on that are in one place, as far as they move as one. */
static size_t run_length(const struct move *move, size_t first, size_t last) {
    const signed char *home = move->region->home;
    size_t at = first, most = at_once(move, first);
    while (at < last && home[at] == home[first] && at - first < most)
        at++;
    return at - first;
}

static void move_pages(const struct move *move, size_t first, size_t last) {
    for (size_t count; first < last; first += count) {
        count = run_length(move, first, last);
        if (move->region->home[first] != move->to)
            move_run(move, first, count);
    }
}

void bp_sim_managed_use(struct bp_sim_stream *stream, const void *pointer) {
    struct bp_sim_region region;
    struct move move = {&region, stream, stream->device, USED};
    if (bp_sim_find(pointer, &region) && region.home)
        move_pages(&move, 0, PAGES(region.size));
}

static int check(const struct bp_sim_region *region, const void *memory, size_t size, int device) {
    if (!region->home || (uintptr_t)memory + size > region->start + region->size)
        return cudaErrorInvalidValue;
    return device == HOST || bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice;
}

int bp_sim_prefetch(const void *memory, size_t size, int device, struct bp_sim_stream *handle) {
    struct bp_sim_region region;
    int error = bp_sim_ready();
    struct bp_sim_stream *stream = error ? NULL : bp_sim_stream_get(handle);
    bp_sim_find(memory, &region);
    if (!error)
        error = stream ? check(&region, memory, size, device) : cudaErrorInvalidResourceHandle;
    if (!error)
        error = bp_sim_capture_refuse(stream);
    if (error)
        return error;
    size_t offset = (uintptr_t)memory - region.start;
    struct move move = {&region, stream, device, ASKED_FOR};
    bp_sim_lock(&bp_sim_model.lock);
    move_pages(&move, offset / PAGE, PAGES(offset + size));
    bp_sim_unlock(&bp_sim_model.lock);
    const struct bp_sim_properties *p = bp_sim_properties(stream->device);
    bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns);
    return 0;
}

/* One fault: the thread goes on when the page and its neighbours are there. Nothing else of the
 * device waits for it. */
static size_t fault(const struct bp_sim_region *region, size_t first, size_t last,
                    const void *code) {
    int from = region->home[first];
    struct bp_sim_stream own;
    struct move move = {region, &own, HOST, USED};
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_FAULT,
                                   .start = bp_sim_now(),
                                   .device = (uint32_t)from,
                                   .address = region->start + first * PAGE,
                                   .name = code};
    bp_sim_stream_fork(&bp_sim_model.device[from].legacy, &own);
    own.nonblocking = true;
    own.end = record.start + FAULT_NS;
    size_t count = run_length(&move, first, last);
    bp_sim_lock(&bp_sim_model.lock);
    move_run(&move, first, count);
    bp_sim_unlock(&bp_sim_model.lock);
    bp_sim_wait_until(own.end);
    record.bytes = count * PAGE;
    record.end = bp_sim_now();
    bp_sim_emit(&record);
    return count;
}

void bp_sim_touch(const void *memory, size_t size) {
    struct bp_sim_region region;
    if (!bp_sim_find(memory, &region) || !region.home || check(&region, memory, size, HOST))
        return;
    size_t offset = (uintptr_t)memory - region.start, last = PAGES(offset + size);
    for (size_t first = offset / PAGE; first < last;)
        first += region.home[first] == HOST
                     ? 1
                     : fault(&region, first, last, __builtin_return_address(0));
}
