/* SPDX-License-Identifier: MIT
 *
 * Streams and events in model time. The legacy default stream waits for all blocking streams of its
 * device, and they for it; streams made with the non-blocking flag do neither. A per-thread default
 * stream is an ordinary blocking stream.
 */
#include <stdlib.h>

#include "cuda/sim/internal.h"

#define STREAM_MAGIC 0x4253544d
#define EVENT_MAGIC 0x42455654
#define FIRST_ID 13 /* as CUPTI numbers the first stream that a program makes */

struct bp_sim_event {
    uint32_t magic;
    bool timing, recorded;
    int device;
    uint64_t end, sequence;
    struct bp_sim_mark captured;
};

static __thread struct bp_sim_stream *own[BP_SIM_DEVICES];

uint32_t bp_sim_stream_number(void) {
    static uint32_t made;
    return FIRST_ID + __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static struct bp_sim_stream *make(int device, bool nonblocking, int priority) {
    struct bp_sim_stream *stream = calloc(1, sizeof *stream);
    if (stream) {
        stream->magic = STREAM_MAGIC;
        stream->id = bp_sim_stream_number();
        stream->device = device;
        stream->nonblocking = nonblocking;
        stream->priority = priority;
    }
    return stream;
}

struct bp_sim_stream *bp_sim_stream_get(struct bp_sim_stream *handle) {
    int device = bp_sim_device();
    if (!handle || handle == BP_SIM_LEGACY)
        return &bp_sim_model.device[device].legacy;
    if (handle == BP_SIM_PER_THREAD) {
        if (!own[device])
            own[device] = make(device, false, 0);
        return own[device];
    }
    return handle->magic == STREAM_MAGIC ? handle : NULL;
}

static bool is_legacy(const struct bp_sim_stream *stream) {
    return !stream->magic;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* When a stream is through with all that it must wait for. */
static uint64_t stream_end(const struct bp_sim_stream *stream) {
    const struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    if (is_legacy(stream))
        return later(stream->end, device->blocking_end);
    return stream->nonblocking ? stream->end : later(stream->end, device->legacy.end);
}

/* The last piece of work that it must wait for. */
static uint64_t stream_sequence(const struct bp_sim_stream *stream) {
    if (is_legacy(stream))
        return bp_sim_model.sequence;
    uint64_t legacy = bp_sim_model.device[stream->device].legacy.sequence;
    return stream->nonblocking ? stream->sequence : later(stream->sequence, legacy);
}

/* The device and its legacy stream wait for what a stream waits for, work or not. */
static void reach(struct bp_sim_stream *stream, uint64_t end) {
    struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    stream->end = later(stream->end, end);
    device->end = later(device->end, stream->end);
    if (!stream->nonblocking)
        device->blocking_end = later(device->blocking_end, stream->end);
}

static uint64_t take_time(struct bp_sim_stream *stream, uint64_t start, uint64_t duration) {
    reach(stream, start + duration);
    return start;
}

uint64_t bp_sim_place(struct bp_sim_stream *stream, struct bp_sim_engine *engine, uint64_t latency,
                      uint64_t duration) {
    uint64_t start = later(bp_sim_now() + latency, stream_end(stream));
    if (engine)
        start = bp_sim_engine_place(engine, start, duration);
    return take_time(stream, start, duration);
}

uint64_t bp_sim_place_on_lanes(struct bp_sim_stream *stream, unsigned lanes, uint64_t latency,
                               uint64_t duration) {
    struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    uint64_t ready = later(bp_sim_now() + latency, stream_end(stream));
    return take_time(stream, bp_sim_lanes_place(device->compute, lanes, ready, duration), duration);
}

void bp_sim_stream_fork(const struct bp_sim_stream *stream, struct bp_sim_stream *branch) {
    bp_sim_lock(&bp_sim_model.lock);
    *branch = (struct bp_sim_stream){.magic = STREAM_MAGIC,
                                     .id = stream->id,
                                     .device = stream->device,
                                     .nonblocking = stream->nonblocking,
                                     .end = stream_end(stream),
                                     .sequence = stream_sequence(stream)};
    bp_sim_unlock(&bp_sim_model.lock);
}

void bp_sim_stream_join(struct bp_sim_stream *stream, uint64_t end, uint64_t sequence) {
    bp_sim_lock(&bp_sim_model.lock);
    reach(stream, end);
    stream->sequence = later(stream->sequence, sequence);
    bp_sim_unlock(&bp_sim_model.lock);
}

void bp_sim_finish(uint64_t end, uint64_t sequence) {
    bp_sim_queue_finish(sequence, end);
    bp_sim_wait_until(end);
}

int bp_sim_stream_new(struct bp_sim_stream **stream, bool nonblocking, int priority) {
    int error = bp_sim_ready();
    if (error || !stream)
        return error ? error : cudaErrorInvalidValue;
    *stream = make(bp_sim_device(), nonblocking, priority);
    return *stream ? 0 : cudaErrorMemoryAllocation;
}

/* Work of a destroyed stream is still done; the model has it already. */
int bp_sim_stream_free(struct bp_sim_stream *stream) {
    int error = bp_sim_ready();
    if (error)
        return error;
    if (!stream || stream == BP_SIM_LEGACY || stream == BP_SIM_PER_THREAD ||
        stream->magic != STREAM_MAGIC)
        return cudaErrorInvalidResourceHandle;
    bp_sim_lock(&bp_sim_model.lock);
    bp_sim_capture_leave(stream);
    bp_sim_unlock(&bp_sim_model.lock);
    stream->magic = 0xdead;
    free(stream);
    return 0;
}

static int read_end(struct bp_sim_stream *handle, uint64_t *end, uint64_t *sequence, uint32_t *id) {
    int error = bp_sim_ready();
    if (error)
        return error;
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if ((error = bp_sim_capture_refuse(stream)))
        return error;
    bp_sim_lock(&bp_sim_model.lock);
    *end = stream_end(stream);
    *sequence = stream_sequence(stream);
    *id = stream->id;
    bp_sim_unlock(&bp_sim_model.lock);
    return 0;
}

static void emit_sync(uint64_t start, uint32_t stream, unsigned type) {
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_SYNC,
                                   .start = start,
                                   .end = bp_sim_now(),
                                   .device = (uint32_t)bp_sim_device(),
                                   .stream = stream,
                                   .value = type};
    bp_sim_emit(&record);
}

int bp_sim_stream_synchronize(struct bp_sim_stream *handle) {
    uint64_t end, sequence, start = bp_sim_now();
    uint32_t id;
    int error = read_end(handle, &end, &sequence, &id);
    if (error)
        return error;
    bp_sim_finish(end, sequence);
    emit_sync(start, id, 3);
    return 0;
}

int bp_sim_stream_settle(struct bp_sim_stream *handle) {
    uint64_t end, sequence;
    uint32_t id;
    int error = read_end(handle, &end, &sequence, &id);
    if (!error)
        bp_sim_finish(end, sequence);
    return error;
}

int bp_sim_stream_query(struct bp_sim_stream *handle) {
    uint64_t end, sequence;
    uint32_t id;
    int error = read_end(handle, &end, &sequence, &id);
    if (error)
        return error;
    if (bp_sim_now() < end)
        return cudaErrorNotReady;
    return bp_sim_queue_run(sequence, end) ? cudaErrorNotReady : 0;
}

/* A stream and an event that have to do with each other. */
static int get_both(struct bp_sim_stream *handle, const struct bp_sim_event *event,
                    struct bp_sim_stream **stream) {
    int error = bp_sim_ready();
    if (error)
        return error;
    *stream = bp_sim_stream_get(handle);
    if (!*stream || !event || event->magic != EVENT_MAGIC)
        return cudaErrorInvalidResourceHandle;
    return 0;
}

/* An event from outside the graph: a node. */
static int external_node(struct bp_sim_stream *stream, struct bp_sim_event *event,
                         enum bp_sim_node_type type) {
    const struct bp_sim_content content = {.type = type, .event = event};
    int error;
    return bp_sim_captured_as(stream, &content, &error) ? error : cudaErrorInvalidValue;
}

int bp_sim_stream_wait(struct bp_sim_stream *handle, struct bp_sim_event *event, bool external) {
    struct bp_sim_stream *stream;
    int error = get_both(handle, event, &stream);
    if (error || external)
        return error ? error : external_node(stream, event, BP_SIM_NODE_WAIT);
    bp_sim_lock(&bp_sim_model.lock);
    if (event->captured.capture || stream->capture) {
        error = bp_sim_capture_wait(stream, &event->captured);
    } else if (event->recorded) {
        reach(stream, event->end);
        stream->sequence = later(stream->sequence, event->sequence);
    }
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

int bp_sim_stream_about(struct bp_sim_stream *handle, struct bp_sim_stream_about *about) {
    const struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    *about = (struct bp_sim_stream_about){stream->nonblocking, stream->priority, stream->device,
                                          stream->id};
    return 0;
}

int bp_sim_event_new(struct bp_sim_event **event, bool timing) {
    int error = bp_sim_ready();
    if (error || !event)
        return error ? error : cudaErrorInvalidValue;
    *event = calloc(1, sizeof **event);
    if (!*event)
        return cudaErrorMemoryAllocation;
    **event =
        (struct bp_sim_event){.magic = EVENT_MAGIC, .timing = timing, .device = bp_sim_device()};
    return 0;
}

int bp_sim_event_free(struct bp_sim_event *event) {
    if (!event || event->magic != EVENT_MAGIC)
        return cudaErrorInvalidResourceHandle;
    bp_sim_nodes_clear(&event->captured.nodes);
    event->magic = 0xdead;
    free(event);
    return 0;
}

int bp_sim_event_record(struct bp_sim_event *event, struct bp_sim_stream *handle, bool external) {
    struct bp_sim_stream *stream;
    int error = get_both(handle, event, &stream);
    if (!error && event->device != stream->device)
        error = cudaErrorInvalidResourceHandle;
    if (error || external)
        return error ? error : external_node(stream, event, BP_SIM_NODE_RECORD);
    bp_sim_lock(&bp_sim_model.lock);
    error = bp_sim_capture_record(stream, &event->captured);
    if (!stream->capture) {
        event->end = later(bp_sim_now(), stream_end(stream));
        event->sequence = stream_sequence(stream);
        event->recorded = true;
    }
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

void bp_sim_event_mark(struct bp_sim_event *event, const struct bp_sim_stream *branch) {
    bp_sim_lock(&bp_sim_model.lock);
    event->end = later(bp_sim_now(), branch->end);
    event->sequence = branch->sequence;
    event->recorded = true;
    bp_sim_unlock(&bp_sim_model.lock);
}

void bp_sim_event_await(const struct bp_sim_event *event, struct bp_sim_stream *branch) {
    bp_sim_lock(&bp_sim_model.lock);
    branch->end = later(branch->end, event->end);
    branch->sequence = later(branch->sequence, event->sequence);
    bp_sim_unlock(&bp_sim_model.lock);
}

/* The end of what the event stands for: nothing, if it was never recorded. */
static int read_event(const struct bp_sim_event *event, uint64_t *end, uint64_t *sequence) {
    int error = bp_sim_ready();
    if (error)
        return error;
    if (!event || event->magic != EVENT_MAGIC)
        return cudaErrorInvalidResourceHandle;
    bp_sim_lock(&bp_sim_model.lock);
    error = event->captured.capture ? cudaErrorCapturedEvent : 0;
    *end = event->end;
    *sequence = event->sequence;
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

int bp_sim_event_synchronize(struct bp_sim_event *event) {
    uint64_t end, sequence, start = bp_sim_now();
    int error = read_event(event, &end, &sequence);
    if (error)
        return error;
    bp_sim_finish(end, sequence);
    emit_sync(start, UINT32_MAX, 1);
    return 0;
}

int bp_sim_event_query(struct bp_sim_event *event) {
    uint64_t end, sequence;
    int error = read_event(event, &end, &sequence);
    if (error)
        return error;
    if (bp_sim_now() < end)
        return cudaErrorNotReady;
    return bp_sim_queue_run(sequence, end) ? cudaErrorNotReady : 0;
}

static bool has_time(const struct bp_sim_event *event) {
    return event && event->magic == EVENT_MAGIC && event->recorded && event->timing;
}

int bp_sim_event_elapsed(float *ms, struct bp_sim_event *from, struct bp_sim_event *to) {
    bp_sim_lock(&bp_sim_model.lock);
    bool known = has_time(from) && has_time(to) && from->device == to->device;
    uint64_t begin = known ? from->end : 0, end = known ? to->end : 0;
    bp_sim_unlock(&bp_sim_model.lock);
    if (!known)
        return cudaErrorInvalidResourceHandle;
    if (bp_sim_now() < later(begin, end))
        return cudaErrorNotReady;
    *ms = (float)(((double)end - (double)begin) / 1e6);
    return 0;
}
