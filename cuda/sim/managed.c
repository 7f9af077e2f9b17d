/* SPDX-License-Identifier: MIT
 *
 * Where the pages of managed memory are, and their moves: when the program asks for it, and before
 * a kernel that has a pointer to them. The program's own accesses are not seen: what a kernel has
 * used stays on the device until it is asked back. Nothing is copied, all is one memory.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

#define PAGE ((size_t)64 << 10)
#define PAGES(size) (((size) + PAGE - 1) / PAGE)
#define LONGEST ((size_t)2 << 20) /* pages that move as one, as CUPTI tells of them */
#define HOST (-1)

/* CUPTI's numbers. */
enum cause { ASKED_FOR = 1, USED = 2 };

signed char *bp_sim_managed_new(size_t size) {
    signed char *home = malloc(PAGES(size));
    return home ? memset(home, HOST, PAGES(size)) : NULL;
}

static enum bp_sim_copy_kind kind_of(int from, int to) {
    return from == HOST ? BP_SIM_HTOD : to == HOST ? BP_SIM_DTOH : BP_SIM_PTOP;
}

/* Pages that the device fetches by faults come at half the speed of those that were asked for: a T4
 * was seen at 6.2 GB/s. */
static uint64_t duration(const struct bp_sim_properties *p, enum bp_sim_copy_kind kind,
                         size_t bytes, enum cause cause) {
    int mbs = kind == BP_SIM_HTOD ? p->h2d_mbs : p->d2h_mbs;
    return (uint64_t)p->copy_latency_ns + bytes * 1000 * (cause == USED ? 2 : 1) / (uint64_t)mbs;
}

static void place(struct bp_sim_record *record, struct bp_sim_stream *stream) {
    struct bp_sim_device *device = &bp_sim_model.device[record->device];
    const struct bp_sim_properties *p = device->properties;
    uint64_t length = duration(p, record->copy, record->bytes, (enum cause)record->value);
    record->start =
        bp_sim_place(stream, record->copy == BP_SIM_HTOD ? &device->upload : &device->download,
                     (uint64_t)p->launch_latency_ns, length);
    record->end = record->start + length;
}

static void move(struct bp_sim_stream *stream, const struct bp_sim_region *region, size_t first,
                 size_t count, int to, enum cause cause) {
    int from = region->home[first];
    size_t start = first * PAGE, end = (first + count) * PAGE;
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_MIGRATION,
        .device = (uint32_t)(to == HOST ? from : to),
        .stream = stream->id,
        .bytes = (end < region->size ? end : region->size) - start,
        .address = region->start + start,
        .copy = kind_of(from, to),
        .source = BP_SIM_MANAGED,
        .target = BP_SIM_MANAGED,
        .source_device = (uint32_t)from,
        .target_device = (uint32_t)to,
        .async = true,
        .value = cause,
    };
    place(&record, stream);
    memset(region->home + first, to, count);
    bp_sim_emit(&record);
}

/* Pages from `first` on that are in one place, up to the longest move. */
static size_t run_length(const struct bp_sim_region *region, size_t first, size_t last) {
    size_t at = first;
    while (at < last && region->home[at] == region->home[first] && (at - first) * PAGE < LONGEST)
        at++;
    return at - first;
}

static void move_pages(struct bp_sim_stream *stream, const struct bp_sim_region *region,
                       size_t first, size_t last, int to, enum cause cause) {
    for (size_t count; first < last; first += count) {
        count = run_length(region, first, last);
        if (region->home[first] != to)
            move(stream, region, first, count, to, cause);
    }
}

void bp_sim_managed_use(struct bp_sim_stream *stream, const void *pointer) {
    struct bp_sim_region region;
    if (bp_sim_find(pointer, &region) && region.home)
        move_pages(stream, &region, 0, PAGES(region.size), stream->device, USED);
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
    if (!error && stream->capture)
        error = cudaErrorStreamCaptureUnsupported;
    if (error)
        return error;
    size_t offset = (uintptr_t)memory - region.start;
    bp_sim_lock(&bp_sim_model.lock);
    move_pages(stream, &region, offset / PAGE, PAGES(offset + size), device, ASKED_FOR);
    bp_sim_unlock(&bp_sim_model.lock);
    const struct bp_sim_properties *p = bp_sim_properties(stream->device);
    bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns);
    return 0;
}
