/* SPDX-License-Identifier: MIT
 *
 * Copies and fills: which engine, how long, and when the caller may go on. The rules are those of
 * the CUDA documentation, "API synchronization behavior".
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

/* Up to here a pageable upload is staged whole and the caller goes on before the transfer. */
#define STAGED ((size_t)64 << 10)

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };

/* What a copy is, once its addresses are looked up. */
struct plan {
    struct bp_sim_region source, target;
    enum bp_sim_copy_kind kind;
    size_t bytes;
    bool pageable, staged, blocks;
};

static bool is_fixed(const struct bp_sim_region *region) {
    return region->kind == BP_SIM_DEVICE || region->kind == BP_SIM_ARRAY;
}

static bool on_device(const struct bp_sim_region *region) {
    return is_fixed(region) || region->kind == BP_SIM_MANAGED;
}

static size_t extent(size_t width, size_t height, size_t pitch) {
    return height ? (height - 1) * pitch + width : 0;
}

/* Whether a side of the copy is somewhere, and ends where CUDA's memory does or before. */
static bool fits(const struct bp_sim_copy *copy, const char *start, size_t pitch, size_t slice,
                 const struct bp_sim_region *region) {
    size_t size = (copy->depth - 1) * slice + extent(copy->width, copy->height, pitch);
    return start && (!region->size || size <= region->start + region->size - (uintptr_t)start);
}

/* Copies of memory that the device does not have are errors in reality too; nothing can be copied
 * from and to anywhere. */
static int check(const struct bp_sim_copy *copy, const struct plan *plan) {
    bool to = on_device(&plan->target), from = on_device(&plan->source);
    if (copy->any || !plan->bytes)
        return 0;
    if ((copy->direction == HOST_TO_DEVICE && !to) ||
        (copy->direction == DEVICE_TO_HOST && !from) ||
        (copy->direction == DEVICE_TO_DEVICE && (!to || !from)))
        return cudaErrorInvalidValue;
    return fits(copy, copy->target, copy->target_pitch, copy->target_slice, &plan->target) &&
                   fits(copy, copy->source, copy->source_pitch, copy->source_slice, &plan->source)
               ? 0
               : cudaErrorInvalidValue;
}

static enum bp_sim_copy_kind find_kind(const struct bp_sim_copy *copy, const struct plan *plan) {
    bool to = is_fixed(&plan->target), from = is_fixed(&plan->source);
    if (plan->target.kind == BP_SIM_MANAGED)
        to = copy->direction == HOST_TO_DEVICE || copy->direction == DEVICE_TO_DEVICE;
    if (plan->source.kind == BP_SIM_MANAGED)
        from = copy->direction == DEVICE_TO_HOST || copy->direction == DEVICE_TO_DEVICE;
    if (to && from)
        return plan->target.device == plan->source.device ? BP_SIM_DTOD : BP_SIM_PTOP;
    return to ? BP_SIM_HTOD : from ? BP_SIM_DTOH : BP_SIM_HTOH;
}

static int make_plan(struct plan *plan, const struct bp_sim_copy *copy) {
    *plan = (struct plan){.bytes = copy->width * copy->height * copy->depth};
    bp_sim_find(copy->source, &plan->source);
    bp_sim_find(copy->target, &plan->target);
    int error = check(copy, plan);
    if (error)
        return error;
    plan->kind = find_kind(copy, plan);
    plan->pageable = (plan->kind == BP_SIM_HTOD && plan->source.kind == BP_SIM_PAGEABLE) ||
                     (plan->kind == BP_SIM_DTOH && plan->target.kind == BP_SIM_PAGEABLE);
    plan->staged = plan->pageable && plan->kind == BP_SIM_HTOD && plan->bytes <= STAGED;
    bool host = plan->kind == BP_SIM_HTOD || plan->kind == BP_SIM_DTOH || plan->kind == BP_SIM_HTOH;
    plan->blocks = host && (!copy->async || plan->pageable) && !plan->staged;
    return 0;
}

static uint64_t at_rate(size_t bytes, int mbs) {
    return bytes * 1000 / (uint64_t)mbs;
}

static uint64_t duration(const struct plan *plan, const struct bp_sim_properties *p) {
    int rate = p->memory_gbs * 1000 * 3 / 8; /* read and written, at 3/4 of the peak */
    if (plan->kind == BP_SIM_HTOD)
        rate = plan->pageable ? p->pageable_h2d_mbs : p->h2d_mbs;
    else if (plan->kind == BP_SIM_DTOH || plan->kind == BP_SIM_PTOP)
        rate = plan->pageable ? p->pageable_d2h_mbs : p->d2h_mbs;
    return (uint64_t)p->copy_latency_ns + at_rate(plan->bytes, rate);
}

static struct bp_sim_engine *engine_for(struct bp_sim_device *device, enum bp_sim_copy_kind kind) {
    if (kind == BP_SIM_DTOD)
        return &device->compute[0];
    if (kind == BP_SIM_HTOD || device->properties->copy_engines < 2)
        return &device->upload;
    return &device->download;
}

static struct bp_sim_record describe(const struct bp_sim_copy *copy, const struct plan *plan,
                                     const struct bp_sim_stream *stream) {
    return (struct bp_sim_record){
        .kind = BP_SIM_RECORD_COPY,
        .device = (uint32_t)stream->device,
        .stream = stream->id,
        .bytes = plan->bytes,
        .copy = plan->kind,
        .source = plan->source.kind,
        .target = plan->target.kind,
        .source_device = (uint32_t)(plan->source.device < 0 ? 0 : plan->source.device),
        .target_device = (uint32_t)(plan->target.device < 0 ? 0 : plan->target.device),
        .async = copy->async,
    };
}

/* Without peer access a copy between devices goes through the host: down, then up. */
static int place(struct bp_sim_record record[2], struct bp_sim_stream *stream,
                 const struct plan *plan) {
    struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    const struct bp_sim_properties *p = device->properties;
    uint64_t length = duration(plan, p), latency = (uint64_t)p->launch_latency_ns;
    bool relayed = plan->kind == BP_SIM_PTOP &&
                   !(bp_sim_model.device[plan->source.device].peers >> plan->target.device & 1) &&
                   !(bp_sim_model.device[plan->target.device].peers >> plan->source.device & 1);
    if (!relayed) {
        record[0].start = bp_sim_place(stream, engine_for(device, plan->kind), latency, length);
        record[0].end = record[0].start + length;
        return 1;
    }
    record[1] = record[0];
    for (int i = 0; i < 2; i++) {
        record[i].copy = i ? BP_SIM_HTOD : BP_SIM_DTOH;
        record[i].device = (uint32_t)(i ? plan->target.device : plan->source.device);
        struct bp_sim_device *one = &bp_sim_model.device[record[i].device];
        record[i].start =
            bp_sim_place(stream, engine_for(one, record[i].copy), i ? 0 : latency, length);
        record[i].end = record[i].start + length;
    }
    return 2;
}

static void copy_to_stage(struct bp_sim_work *work) {
    struct bp_sim_copy *copy = &work->copy;
    char *stage = (char *)work->pointers;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memcpy(stage + (z * copy->height + y) * copy->width,
                   copy->source + z * copy->source_slice + y * copy->source_pitch, copy->width);
    copy->source = stage;
    copy->source_pitch = copy->width;
    copy->source_slice = copy->width * copy->height;
}

/* Steals the work. */
int bp_sim_copy_submit(struct bp_sim_work *work, struct bp_sim_stream *handle) {
    struct plan plan;
    struct bp_sim_record record[2];
    const struct bp_sim_copy copy = work->copy;
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    int error = stream ? make_plan(&plan, &copy) : cudaErrorInvalidResourceHandle;
    if (error || !plan.bytes) {
        free(work);
        return error;
    }
    bp_sim_lock(&bp_sim_model.lock);
    const struct bp_sim_properties *p = bp_sim_model.device[stream->device].properties;
    record[0] = describe(&copy, &plan, stream);
    record[0].node = work->node;
    record[0].graph = work->graph;
    plan.blocks = plan.blocks && !work->node;
    int records = 0;
    if (plan.kind == BP_SIM_HTOH)
        bp_sim_place(stream, NULL, 0, 0);
    else
        records = place(record, stream, &plan);
    bp_sim_queue_add(work, stream);
    uint64_t end = stream->end, sequence = stream->sequence;
    bp_sim_unlock(&bp_sim_model.lock);
    for (int i = 0; i < records; i++)
        bp_sim_emit(&record[i]);
    if (plan.blocks)
        bp_sim_finish(end, sequence);
    else
        bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns +
                          (plan.staged ? at_rate(plan.bytes, p->pageable_h2d_mbs) : 0));
    bp_sim_queue_throttle();
    return 0;
}

static bool is_small_upload(const struct bp_sim_copy *copy) {
    struct plan plan;
    return !make_plan(&plan, copy) && plan.staged;
}

int bp_sim_copy(const struct bp_sim_copy *copy, struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    if (error)
        return error;
    if (copy->direction < HOST_TO_HOST || copy->direction > DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    bool staged = is_small_upload(copy);
    size_t bytes = copy->width * copy->height * copy->depth;
    struct bp_sim_work *work = bp_sim_work_new(BP_SIM_WORK_COPY, staged ? bytes : 0);
    if (!work)
        return cudaErrorMemoryAllocation;
    work->copy = *copy;
    if (bp_sim_captured(handle, work, &error))
        return error;
    if (staged) {
        if (!copy->async && (error = bp_sim_stream_settle(handle))) {
            free(work);
            return error;
        }
        copy_to_stage(work);
        work->copy.any = true;
    }
    return bp_sim_copy_submit(work, handle);
}

int bp_sim_set_submit(struct bp_sim_work *work, struct bp_sim_stream *handle) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    struct bp_sim_region region;
    const struct bp_sim_set set = work->set;
    size_t size = extent(set.width, set.height, set.pitch);
    if (!bp_sim_find(set.target, &region) || !stream ||
        (uintptr_t)set.target + size > region.start + region.size) {
        free(work);
        return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_SET,
                                   .device = (uint32_t)stream->device,
                                   .stream = stream->id,
                                   .bytes = set.width * set.height,
                                   .target = region.kind,
                                   .async = set.async,
                                   .value = set.element > 1 ? set.value : (unsigned char)set.value,
                                   .node = work->node,
                                   .graph = work->graph};
    bp_sim_lock(&bp_sim_model.lock);
    struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    const struct bp_sim_properties *p = device->properties;
    uint64_t length = (uint64_t)p->copy_latency_ns + at_rate(record.bytes, p->memory_gbs * 1000);
    record.start = bp_sim_place_on_lanes(stream, 1, (uint64_t)p->launch_latency_ns, length);
    record.end = record.start + length;
    bp_sim_queue_add(work, stream);
    uint64_t sequence = stream->sequence;
    bp_sim_unlock(&bp_sim_model.lock);
    bp_sim_emit(&record);
    bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns);
    if (region.kind == BP_SIM_PINNED && !set.async)
        bp_sim_finish(record.end, sequence);
    bp_sim_queue_throttle();
    return 0;
}

int bp_sim_set(const struct bp_sim_set *set, struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    if (error || !set->width || !set->height)
        return error;
    struct bp_sim_work *work = bp_sim_work_new(BP_SIM_WORK_SET, 0);
    if (!work)
        return cudaErrorMemoryAllocation;
    work->set = *set;
    return bp_sim_captured(handle, work, &error) ? error : bp_sim_set_submit(work, handle);
}
