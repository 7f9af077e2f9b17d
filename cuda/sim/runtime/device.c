/* SPDX-License-Identifier: MIT
 *
 * libcudart: devices, versions and errors.
 */
#include <stdio.h>

#include "cuda/sim/runtime/runtime.h"

#define VERSION (BP_SIM_CUDA == 13 ? 13000 : BP_SIM_CUDA == 12 ? 12040 : 11080)

API int cudaGetDeviceCount(int *count) {
    CALL(cudaGetDeviceCount, bp_sim_device_count(count));
}

static int get_device(int *device) {
    int count, error = bp_sim_device_count(&count);
    *device = bp_sim_device();
    return error;
}

API int cudaGetDevice(int *device) {
    CALL(cudaGetDevice, get_device(device));
}

/* Since 12.0 it makes the context too. */
static int set_device(int device) {
    int error = bp_sim_set_device(device);
    return error || BP_SIM_CUDA < 12 ? error : bp_sim_ready();
}

API int cudaSetDevice(int device) {
    CALL(cudaSetDevice, set_device(device));
}

API int cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    CALL(cudaInitDevice, bp_sim_properties(device) ? bp_sim_ready() : cudaErrorInvalidDevice);
}

API int cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    CALL(cudaSetDeviceFlags, 0);
}

API int cudaGetDeviceFlags(unsigned *flags) {
    *flags = 0;
    CALL(cudaGetDeviceFlags, 0);
}

API int cudaDeviceSynchronize(void) {
    CALL(cudaDeviceSynchronize, bp_sim_device_synchronize());
}

API int cudaDeviceReset(void) {
    CALL(cudaDeviceReset, bp_sim_device_synchronize());
}

#if BP_SIM_CUDA < 13 /* their names before 4.0 */
API int cudaThreadSynchronize(void) {
    CALL(cudaThreadSynchronize, bp_sim_device_synchronize());
}

API int cudaThreadExit(void) {
    CALL(cudaThreadExit, bp_sim_device_synchronize());
}
#endif

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    CALL(cudaDeviceGetStreamPriorityRange, bp_sim_ready());
}

API int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    CALL(cudaDeviceCanAccessPeer,
         bp_sim_properties(device) && bp_sim_properties(peer) ? 0 : cudaErrorInvalidDevice);
}

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)flags;
    CALL(cudaDeviceEnablePeerAccess, bp_sim_peer_enable(bp_sim_device(), peer, true));
}

API int cudaDeviceDisablePeerAccess(int peer) {
    CALL(cudaDeviceDisablePeerAccess, bp_sim_peer_enable(bp_sim_device(), peer, false));
}

API int cudaDeviceGetPCIBusId(char *id, int size, int device) {
    snprintf(id, (size_t)size, "0000:%02x:00.0", 4 + device);
    CALL(cudaDeviceGetPCIBusId, bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice);
}

API int cudaRuntimeGetVersion(int *version) {
    *version = VERSION;
    CALL(cudaRuntimeGetVersion, 0);
}

API int cudaDriverGetVersion(int *version) {
    *version = bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER ? 0 : VERSION;
    CALL(cudaDriverGetVersion, 0);
}

API int cudaGetLastError(void) {
    struct bp_sim_call call;
    bp_sim_enter(&call, "cudaGetLastError", BP_CBID_cudaGetLastError, 0);
    int error = bp_sim_last_error(true);
    bp_sim_leave(&call, 0);
    return error;
}

API int cudaPeekAtLastError(void) {
    struct bp_sim_call call;
    bp_sim_enter(&call, "cudaPeekAtLastError", BP_CBID_cudaPeekAtLastError, 0);
    int error = bp_sim_last_error(false);
    bp_sim_leave(&call, 0);
    return error;
}

API const char *cudaGetErrorString(int value) {
    const struct bp_sim_error *error = bp_sim_error(value);
    return error ? error->text : "unrecognized error code";
}

API const char *cudaGetErrorName(int value) {
    const struct bp_sim_error *error = bp_sim_error(value);
    return error ? error->name : "unrecognized error code";
}

API int cudaDeviceGetAttribute(int *value, int which, int device) {
    CALL(cudaDeviceGetAttribute, bp_sim_attribute(value, which, device));
}

/* cudaLimit: stack, printf, heap, depth and number of launches by kernels, what L2 fetches at once,
 * what of it is set aside. */
static int limit(size_t *value, int which, bool set) {
    static size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    int error = bp_sim_ready();
    if (error)
        return error;
    if (which < 0 || which >= (int)(sizeof limits / sizeof limits[0]))
        return cudaErrorUnsupportedLimit;
    if (set)
        limits[which] = *value;
    else
        *value = limits[which];
    return 0;
}

API int cudaDeviceGetLimit(size_t *value, int which) {
    CALL(cudaDeviceGetLimit, limit(value, which, false));
}

API int cudaDeviceSetLimit(int which, size_t value) {
    CALL(cudaDeviceSetLimit, limit(&value, which, true));
}

#if BP_SIM_CUDA < 13
API int cudaThreadGetLimit(size_t *value, int which) {
    CALL(cudaThreadGetLimit, limit(value, which, false));
}

API int cudaThreadSetLimit(int which, size_t value) {
    CALL(cudaThreadSetLimit, limit(&value, which, true));
}

API int cudaThreadGetCacheConfig(int *configuration) {
    *configuration = 0;
    CALL(cudaThreadGetCacheConfig, bp_sim_ready());
}

API int cudaThreadSetCacheConfig(int configuration) {
    CALL(cudaThreadSetCacheConfig,
         configuration < 0 || configuration > 3 ? cudaErrorInvalidValue : bp_sim_ready());
}
#endif

API int cudaDeviceGetCacheConfig(int *configuration) {
    *configuration = 0;
    CALL(cudaDeviceGetCacheConfig, bp_sim_ready());
}

API int cudaDeviceSetCacheConfig(int configuration) {
    CALL(cudaDeviceSetCacheConfig,
         configuration < 0 || configuration > 3 ? cudaErrorInvalidValue : bp_sim_ready());
}

/* Banks have four bytes since Maxwell. */
API int cudaDeviceGetSharedMemConfig(int *configuration) {
    *configuration = 1;
    CALL(cudaDeviceGetSharedMemConfig, bp_sim_ready());
}

API int cudaDeviceSetSharedMemConfig(int configuration) {
    CALL(cudaDeviceSetSharedMemConfig,
         configuration < 0 || configuration > 2 ? cudaErrorInvalidValue : bp_sim_ready());
}

static int by_bus_id(int *device, const char *id) {
    unsigned domain, bus, slot, function;
    if (!device || !id || sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return cudaErrorInvalidValue;
    *device = (int)bus - 4;
    return !domain && !slot && bp_sim_properties(*device) ? 0 : cudaErrorInvalidDevice;
}

API int cudaDeviceGetByPCIBusId(int *device, const char *id) {
    CALL(cudaDeviceGetByPCIBusId, by_bus_id(device, id));
}

/* All are alike: rank 0, access, no atomics, arrays. */
static int between_peers(int *value, int which, int source, int target) {
    static const int values[] = {0, 0, 1, 0, 1};
    if (which < 1 || which > 4)
        return cudaErrorInvalidValue;
    *value = values[which];
    return bp_sim_properties(source) && bp_sim_properties(target) && source != target
               ? 0
               : cudaErrorInvalidDevice;
}

API int cudaDeviceGetP2PAttribute(int *value, int which, int source, int target) {
    CALL(cudaDeviceGetP2PAttribute, between_peers(value, which, source, target));
}

API int cudaChooseDevice(int *device, const void *wanted) {
    (void)wanted;
    *device = 0;
    CALL(cudaChooseDevice, bp_sim_ready());
}

API int cudaProfilerStart(void) {
    CALL(cudaProfilerStart, 0);
}

API int cudaProfilerStop(void) {
    CALL(cudaProfilerStop, 0);
}
