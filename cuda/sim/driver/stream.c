/* SPDX-License-Identifier: MIT
 *
 * libcuda: contexts, streams and events. A context is a device's only one, whoever made it.
 */
#include "cuda/sim/driver/driver.h"

#define DEVICES 8
#define DEPTH 16
#define NO_CONTEXT 201
#define DISABLE_TIMING 2

static char contexts[DEVICES];
static __thread struct {
    char *stack[DEPTH];
    unsigned depth;
} own;

static int use(char *context) {
    return context ? bp_sim_set_device((int)(context - contexts)) : 0;
}

static int push(char *context) {
    if (own.depth == DEPTH || context < contexts || context >= contexts + DEVICES)
        return NO_CONTEXT;
    own.stack[own.depth++] = context;
    return use(context);
}

static int pop(char **context) {
    if (!own.depth)
        return NO_CONTEXT;
    char *last = own.stack[--own.depth];
    if (context)
        *context = last;
    return own.depth ? use(own.stack[own.depth - 1]) : 0;
}

static int make(char **context, int device) {
    int error = bp_sim_properties(device) ? bp_sim_set_device(device) : cudaErrorInvalidDevice;
    *context = error ? NULL : &contexts[device];
    return error ? error : bp_sim_ready();
}

static int make_current(char **context, int device) {
    int error = make(context, device);
    return error ? error : push(*context);
}

API int cuCtxCreate_v2(char **context, unsigned flags, int device) {
    (void)flags;
    CALL(cuCtxCreate_v2, make_current(context, device));
}

API int cuCtxDestroy_v2(char *context) {
    CALL(cuCtxDestroy_v2, own.depth && own.stack[own.depth - 1] == context ? pop(NULL) : 0);
}

API int cuDevicePrimaryCtxRetain(char **context, int device) {
    CALL(cuDevicePrimaryCtxRetain, make(context, device));
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
    CALL(cuDevicePrimaryCtxRelease_v2, bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice);
}

API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    (void)flags;
    CALL(cuDevicePrimaryCtxSetFlags_v2, bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice);
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    *flags = 0;
    *active = bp_sim_started();
    CALL(cuDevicePrimaryCtxGetState, bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice);
}

API int cuCtxPushCurrent_v2(char *context) {
    CALL(cuCtxPushCurrent_v2, push(context));
}

API int cuCtxPopCurrent_v2(char **context) {
    CALL(cuCtxPopCurrent_v2, pop(context));
}

static int set_current(char *context) {
    if (own.depth)
        pop(NULL);
    return context ? push(context) : 0;
}

API int cuCtxSetCurrent(char *context) {
    CALL(cuCtxSetCurrent, set_current(context));
}

/* The runtime's calls make one current, too. */
API int cuCtxGetCurrent(char **context) {
    *context = own.depth          ? own.stack[own.depth - 1]
               : bp_sim_started() ? &contexts[bp_sim_device()]
                                  : NULL;
    CALL(cuCtxGetCurrent, 0);
}

API int cuCtxGetDevice(int *device) {
    *device = bp_sim_device();
    CALL(cuCtxGetDevice, own.depth || bp_sim_started() ? 0 : NO_CONTEXT);
}

API int cuCtxGetFlags(unsigned *flags) {
    *flags = 0;
    CALL(cuCtxGetFlags, 0);
}

API int cuCtxGetApiVersion(char *context, unsigned *version) {
    (void)context;
    *version = 3020;
    CALL(cuCtxGetApiVersion, 0);
}

API int cuCtxSynchronize(void) {
    CALL(cuCtxSynchronize, bp_sim_device_synchronize());
}

API int cuStreamCreate(bp_stream *stream, unsigned flags) {
    CALL(cuStreamCreate, bp_sim_stream_new(stream, flags & 1, 0));
}

API int cuStreamCreateWithPriority(bp_stream *stream, unsigned flags, int priority) {
    CALL(cuStreamCreateWithPriority, bp_sim_stream_new(stream, flags & 1, priority));
}

API int cuStreamSynchronize(bp_stream stream) {
    CALL(cuStreamSynchronize, bp_sim_stream_synchronize(stream));
}

API int cuStreamQuery(bp_stream stream) {
    CALL(cuStreamQuery, bp_sim_stream_query(stream));
}

API int cuStreamWaitEvent(bp_stream stream, bp_event event, unsigned flags) {
    CALL(cuStreamWaitEvent, bp_sim_stream_wait(stream, event, flags & 1));
}

API int cuStreamDestroy_v2(bp_stream stream) {
    CALL(cuStreamDestroy_v2, bp_sim_stream_free(stream));
}

API int cuEventCreate(bp_event *event, unsigned flags) {
    CALL(cuEventCreate, bp_sim_event_new(event, !(flags & DISABLE_TIMING)));
}

API int cuEventRecord(bp_event event, bp_stream stream) {
    CALL(cuEventRecord, bp_sim_event_record(event, stream, false));
}

API int cuEventQuery(bp_event event) {
    CALL(cuEventQuery, bp_sim_event_query(event));
}

API int cuEventSynchronize(bp_event event) {
    CALL(cuEventSynchronize, bp_sim_event_synchronize(event));
}

API int cuEventElapsedTime(float *ms, bp_event from, bp_event to) {
    CALL(cuEventElapsedTime, bp_sim_event_elapsed(ms, from, to));
}

API int cuEventDestroy_v2(bp_event event) {
    CALL(cuEventDestroy_v2, bp_sim_event_free(event));
}

API int cuLaunchHostFunc(bp_stream stream, void (*function)(void *), void *data) {
    CALL(cuLaunchHostFunc, bp_sim_host_function(function, data, stream));
}
