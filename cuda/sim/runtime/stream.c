/* SPDX-License-Identifier: MIT
 *
 * libcudart: streams and events.
 */
#include <stdlib.h>

#include "cuda/sim/runtime/runtime.h"

#define NON_BLOCKING 1
#define DISABLE_TIMING 2
#define EXTERNAL 1 /* to the graph that the stream captures */

API int cudaStreamCreate(bp_stream *stream) {
    CALL(cudaStreamCreate, bp_sim_stream_new(stream, false, 0));
}

API int cudaStreamCreateWithFlags(bp_stream *stream, unsigned flags) {
    CALL(cudaStreamCreateWithFlags, bp_sim_stream_new(stream, flags & NON_BLOCKING, 0));
}

API int cudaStreamCreateWithPriority(bp_stream *stream, unsigned flags, int priority) {
    CALL(cudaStreamCreateWithPriority, bp_sim_stream_new(stream, flags & NON_BLOCKING, priority));
}

API int cudaStreamDestroy(bp_stream stream) {
    CALL(cudaStreamDestroy, bp_sim_stream_free(stream));
}

CALL2(cudaStreamSynchronize, _ptsz, (bp_stream stream), bp_sim_stream_synchronize(STREAM(stream)))
CALL2(cudaStreamQuery, _ptsz, (bp_stream stream), bp_sim_stream_query(STREAM(stream)))
CALL2(cudaStreamWaitEvent, _ptsz, (bp_stream stream, struct bp_sim_event *event, unsigned flags),
      bp_sim_stream_wait(STREAM(stream), event, flags &EXTERNAL))
static int get_flags(bp_stream stream, unsigned *flags) {
    struct bp_sim_stream_about about = {0};
    int error = bp_sim_stream_about(stream, &about);
    *flags = about.flags;
    return error;
}

static int get_priority(bp_stream stream, int *priority) {
    struct bp_sim_stream_about about = {0};
    int error = bp_sim_stream_about(stream, &about);
    *priority = about.priority;
    return error;
}

static int get_id(bp_stream stream, uint64_t *id) {
    struct bp_sim_stream_about about = {0};
    int error = bp_sim_stream_about(stream, &about);
    *id = about.id;
    return error;
}

CALL2(cudaStreamGetFlags, _ptsz, (bp_stream stream, unsigned *flags),
      get_flags(STREAM(stream), flags))
CALL2(cudaStreamGetPriority, _ptsz, (bp_stream stream, int *priority),
      get_priority(STREAM(stream), priority))
#if BP_SIM_CUDA >= 12
static int get_device(bp_stream stream, int *device) {
    struct bp_sim_stream_about about = {0};
    int error = bp_sim_stream_about(stream, &about);
    *device = about.device;
    return error;
}

CALL2(cudaStreamGetId, _ptsz, (bp_stream stream, uint64_t *id), get_id(STREAM(stream), id))
CALL2(cudaStreamGetDevice, _ptsz, (bp_stream stream, int *device),
      get_device(STREAM(stream), device))
#endif

/* Memory belongs to all streams, whatever is said here. */
static int attach(bp_stream stream, const void *memory, unsigned flags) {
    struct bp_sim_region region;
    uint64_t id;
    int error = get_id(stream, &id);
    if (!error && (!bp_sim_find(memory, &region) || region.kind != BP_SIM_MANAGED ||
                   (flags != 1 && flags != 2 && flags != 4)))
        error = cudaErrorInvalidValue;
    return error;
}

CALL2(cudaStreamAttachMemAsync, _ptsz,
      (bp_stream stream, void *memory, size_t size, unsigned flags),
      ((void)size, attach(STREAM(stream), memory, flags)))

API int cudaEventCreate(struct bp_sim_event **event) {
    CALL(cudaEventCreate, bp_sim_event_new(event, true));
}

API int cudaEventCreateWithFlags(struct bp_sim_event **event, unsigned flags) {
    CALL(cudaEventCreateWithFlags, bp_sim_event_new(event, !(flags & DISABLE_TIMING)));
}

API int cudaEventDestroy(struct bp_sim_event *event) {
    CALL(cudaEventDestroy, bp_sim_event_free(event));
}

CALL2(cudaEventRecord, _ptsz, (struct bp_sim_event * event, bp_stream stream),
      bp_sim_event_record(event, STREAM(stream), false))
CALL2(cudaEventRecordWithFlags, _ptsz,
      (struct bp_sim_event * event, bp_stream stream, unsigned flags),
      bp_sim_event_record(event, STREAM(stream), flags &EXTERNAL))

API int cudaEventSynchronize(struct bp_sim_event *event) {
    CALL(cudaEventSynchronize, bp_sim_event_synchronize(event));
}

API int cudaEventQuery(struct bp_sim_event *event) {
    CALL(cudaEventQuery, bp_sim_event_query(event));
}

API int cudaEventElapsedTime(float *ms, struct bp_sim_event *from, struct bp_sim_event *to) {
    CALL(cudaEventElapsedTime, bp_sim_event_elapsed(ms, from, to));
}

#if BP_SIM_CUDA == 12
API int cudaEventElapsedTime_v2(float *ms, struct bp_sim_event *from, struct bp_sim_event *to) {
    CALL(cudaEventElapsedTime_v2, bp_sim_event_elapsed(ms, from, to));
}
#endif

CALL2(cudaLaunchHostFunc, _ptsz, (bp_stream stream, void (*function)(void *), void *data),
      bp_sim_host_function(function, data, STREAM(stream)))

/* The older callback has another signature. */
struct callback {
    void (*function)(bp_stream stream, int status, void *data);
    bp_stream stream;
    void *data;
};

static void run_callback(void *data) {
    struct callback *callback = data;
    callback->function(callback->stream, 0, callback->data);
    free(callback);
}

static int add_callback(bp_stream stream, void (*function)(bp_stream, int, void *), void *data) {
    struct callback *callback = malloc(sizeof *callback);
    if (!callback)
        return cudaErrorMemoryAllocation;
    *callback = (struct callback){function, stream, data};
    return bp_sim_host_function(run_callback, callback, stream);
}

CALL2(cudaStreamAddCallback, _ptsz,
      (bp_stream stream, void (*function)(bp_stream, int, void *), void *data, unsigned flags),
      ((void)flags, add_callback(STREAM(stream), function, data)))
