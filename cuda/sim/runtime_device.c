/* SPDX-License-Identifier: MIT
 *
 * libcudart: devices, versions and errors.
 */
#include <stdio.h>
#include <string.h>

#include "cuda/sim/runtime.h"
#include "cuda/sim/runtime_properties.h"

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

static const struct {
    int value;
    const char *name, *text;
} errors[] = {
#define X(value, name, text) {value, #name, text},
#include "cuda/sim/errors.def"
#undef X
};

API const char *cudaGetErrorString(int error) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].value == error)
            return errors[i].text;
    return "unrecognized error code";
}

API const char *cudaGetErrorName(int error) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].value == error)
            return errors[i].name;
    return "unrecognized error code";
}

static void fill_limits(struct bp_cuda_properties *to) {
    to->shared_per_block = 49152;
    to->registers_per_block = 65536;
    to->warp_size = 32;
    to->memory_pitch = 2147483647;
    to->max_threads_per_block = to->max_threads[0] = to->max_threads[1] = 1024;
    to->max_threads[2] = 64;
    to->max_grid[0] = 2147483647;
    to->max_grid[1] = to->max_grid[2] = 65535;
    to->constant_memory = 65536;
    to->texture_alignment = to->surface_alignment = 512;
    to->texture_pitch_alignment = 32;
    to->max_threads_per_multiprocessor = 1024;
    to->shared_per_multiprocessor = to->shared_per_block_optin = 65536;
    to->registers_per_multiprocessor = 65536;
    to->max_blocks_per_multiprocessor = 16;
}

static void fill_properties(struct bp_cuda_properties *to, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    memset(to, 0, sizeof *to);
    fill_limits(to);
    snprintf(to->name, sizeof to->name, "%s", p->name);
    memcpy(to->uuid, "battprof sim", 12);
    to->uuid[15] = (char)device;
    to->memory = p->memory;
    to->major = p->major;
    to->minor = p->minor;
    to->multiprocessors = p->multiprocessors;
    to->can_map_host_memory = to->concurrent_kernels = to->unified_addressing = 1;
    to->managed_memory = to->concurrent_managed_access = to->stream_priorities = 1;
    to->async_engines = p->copy_engines;
    to->memory_bus_width = 256;
    to->l2_size = 4 << 20;
    to->pci_bus = 4 + device;
#if BP_SIM_CUDA < 13
    to->clock_khz = p->clock_khz;
    to->device_overlap = 1;
    to->memory_clock_khz = (int)((long)p->memory_gbs * 1000000 / 64);
#endif
}

/* bytes: as much as the caller's structure has. */
static int properties(void *to, int device, size_t bytes) {
    struct bp_cuda_properties all;
    int count, error = bp_sim_device_count(&count);
    if (error || device < 0 || device >= count)
        return error ? error : cudaErrorInvalidDevice;
    fill_properties(&all, device);
    memcpy(to, &all, bytes);
    return 0;
}

#if BP_SIM_CUDA == 12
API int cudaGetDeviceProperties_v2(void *to, int device) {
    CALL(cudaGetDeviceProperties_v2, properties(to, device, sizeof(struct bp_cuda_properties)));
}
API int cudaGetDeviceProperties(void *to, int device) { /* for programs of 11 */
    CALL(cudaGetDeviceProperties, properties(to, device, BP_CUDA_PROPERTIES_11));
}
#else
API int cudaGetDeviceProperties(void *to, int device) {
    CALL(cudaGetDeviceProperties, properties(to, device, sizeof(struct bp_cuda_properties)));
}
#endif

/* cudaDeviceAttr; those not listed are 0. */
static int attribute(int *value, int which, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    if (!p)
        return bp_sim_ready() ? bp_sim_ready() : cudaErrorInvalidDevice;
    const struct {
        int which, value;
    } known[] = {{1, 1024},
                 {2, 1024},
                 {3, 1024},
                 {4, 64},
                 {5, 2147483647},
                 {6, 65535},
                 {7, 65535},
                 {8, 49152},
                 {9, 65536},
                 {10, 32},
                 {12, 65536},
                 {13, p->clock_khz},
                 {14, 512},
                 {15, 1},
                 {16, p->multiprocessors},
                 {19, 1},
                 {31, 1},
                 {33, 4 + device},
                 {37, 256},
                 {38, 4 << 20},
                 {39, 1024},
                 {40, p->copy_engines},
                 {41, 1},
                 {75, p->major},
                 {76, p->minor},
                 {78, 1},
                 {81, 65536},
                 {82, 65536},
                 {83, 1},
                 {89, 1},
                 {97, 65536},
                 {99, 1},
                 {106, 16}};
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].which == which)
            *value = known[i].value;
    return 0;
}

API int cudaDeviceGetAttribute(int *value, int which, int device) {
    CALL(cudaDeviceGetAttribute, attribute(value, which, device));
}

API int cudaProfilerStart(void) {
    CALL(cudaProfilerStart, 0);
}

API int cudaProfilerStop(void) {
    CALL(cudaProfilerStop, 0);
}
