/* SPDX-License-Identifier: MIT
 *
 * A stand-in libcuda.so.1: the runtime loads it, as tools expect, and cuInit loads the tool named
 * by CUDA_INJECTION64_PATH, as the driver does. It has memory, copies and streams for programs that
 * reach the driver by dlsym or cuGetProcAddress; no modules, so no kernels.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/copy.h"
#include "cuda/sim/sim.h"

#define API BP_SIM_EXPORT
#define NOT_FOUND 500
#define BY_ADDRESS 4
#define MEMORY_TYPE 2 /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */

enum {
#define X(name, id) BP_CBID_##name = (int)((id) | BP_SIM_DRIVER_CALL),
#include "cuda/sim/driver.def"
#undef X
};
#define CALL(name, expression)                                                                     \
    struct bp_sim_call call_;                                                                      \
    bp_sim_enter(&call_, #name, BP_CBID_##name, 0);                                                \
    return bp_sim_leave(&call_, (expression))

static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*start)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
    if (start)
        start();
}

API int cuInit(unsigned flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER)
        return cudaErrorNoDevice;
    pthread_once(&once, inject);
    return 0;
}

API int cuDriverGetVersion(int *version) {
    *version = 13000;
    CALL(cuDriverGetVersion, 0);
}

API int cuDeviceGetCount(int *count) {
    CALL(cuDeviceGetCount, bp_sim_device_count(count));
}

API int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    CALL(cuDeviceGet, bp_sim_properties(ordinal) ? 0 : cudaErrorInvalidDevice);
}

static int device_name(char *name, int size, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    if (p)
        snprintf(name, (size_t)size, "%s", p->name);
    return p ? 0 : cudaErrorInvalidDevice;
}

API int cuDeviceGetName(char *name, int size, int device) {
    CALL(cuDeviceGetName, device_name(name, size, device));
}

API int cuCtxSynchronize(void) {
    CALL(cuCtxSynchronize, bp_sim_device_synchronize());
}

API int cuMemAlloc_v2(void **memory, size_t size) {
    CALL(cuMemAlloc_v2, bp_sim_allocate(memory, size, BP_SIM_DEVICE));
}

API int cuMemFree_v2(void *memory) {
    CALL(cuMemFree_v2, bp_sim_free(memory, false));
}

API int cuMemAllocHost_v2(void **memory, size_t size) {
    CALL(cuMemAllocHost_v2, bp_sim_allocate(memory, size, BP_SIM_PINNED));
}

API int cuMemFreeHost(void *memory) {
    CALL(cuMemFreeHost, bp_sim_free(memory, true));
}

static int copy(void *target, const void *source, size_t size, int direction, bool async,
                struct bp_sim_stream *stream) {
    struct bp_sim_copy copy = {.target = target,
                               .source = source,
                               .width = size,
                               .height = 1,
                               .depth = 1,
                               .direction = direction,
                               .async = async};
    return bp_sim_copy(&copy, stream);
}

API int cuMemcpyHtoD_v2(void *target, const void *source, size_t size) {
    CALL(cuMemcpyHtoD_v2, copy(target, source, size, 1, false, NULL));
}

API int cuMemcpyDtoH_v2(void *target, const void *source, size_t size) {
    CALL(cuMemcpyDtoH_v2, copy(target, source, size, 2, false, NULL));
}

API int cuMemcpyDtoD_v2(void *target, const void *source, size_t size) {
    CALL(cuMemcpyDtoD_v2, copy(target, source, size, 3, false, NULL));
}

API int cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t size,
                             struct bp_sim_stream *stream) {
    CALL(cuMemcpyHtoDAsync_v2, copy(target, source, size, 1, true, stream));
}

API int cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t size,
                             struct bp_sim_stream *stream) {
    CALL(cuMemcpyDtoHAsync_v2, copy(target, source, size, 2, true, stream));
}

API int cuMemcpy(void *target, const void *source, size_t size) {
    CALL(cuMemcpy, copy(target, source, size, BY_ADDRESS, false, NULL));
}

API int cuMemcpyPeer(void *target, void *to, const void *source, void *from, size_t size) {
    (void)to, (void)from;
    CALL(cuMemcpyPeer, copy(target, source, size, BY_ADDRESS, false, NULL));
}

/* Addresses tell what is the host's; arrays are none. */
static char *address_of(const struct bp_cuda_3d_side *side) {
    uint64_t base = side->type == BP_CUDA_HOST ? side->host : side->device;
    if (side->type == BP_CUDA_ARRAY)
        return NULL;
    return (char *)base + (side->z * side->height + side->y) * side->pitch + side->x;
}

static int copy_3d(const struct bp_cuda_driver_3d *p) {
    struct bp_sim_copy copy = {.target = address_of(&p->target),
                               .source = address_of(&p->source),
                               .target_pitch = p->target.pitch,
                               .source_pitch = p->source.pitch,
                               .target_slice = p->target.pitch * p->target.height,
                               .source_slice = p->source.pitch * p->source.height,
                               .width = p->width,
                               .height = p->height,
                               .depth = p->depth,
                               .direction = BY_ADDRESS};
    return copy.target && copy.source ? bp_sim_copy(&copy, NULL) : cudaErrorNotSupported;
}

API int cuMemcpy3D_v2(const struct bp_cuda_driver_3d *parameters) {
    CALL(cuMemcpy3D_v2, copy_3d(parameters));
}

API int cuMemcpy2D_v2(const struct bp_cuda_2d *p) {
    struct bp_cuda_driver_3d wide = bp_cuda_copy_widen(p);
    CALL(cuMemcpy2D_v2, copy_3d(&wide));
}

static int memory_type(unsigned *type, int attribute, const void *pointer) {
    struct bp_sim_region region;
    if (attribute != MEMORY_TYPE || !bp_sim_find(pointer, &region))
        return cudaErrorInvalidValue;
    *type = region.kind == BP_SIM_PINNED ? BP_CUDA_HOST : BP_CUDA_DEVICE;
    return 0;
}

API int cuPointerGetAttribute(void *value, int attribute, const void *pointer) {
    CALL(cuPointerGetAttribute, memory_type(value, attribute, pointer));
}

API int cuMemsetD8_v2(void *target, unsigned char value, size_t size) {
    struct bp_sim_set set = {target, size, size, 1, value, false, 1};
    CALL(cuMemsetD8_v2, bp_sim_set(&set, NULL));
}

API int cuStreamCreate(struct bp_sim_stream **stream, unsigned flags) {
    CALL(cuStreamCreate, bp_sim_stream_new(stream, flags & 1, 0));
}

API int cuStreamSynchronize(struct bp_sim_stream *stream) {
    CALL(cuStreamSynchronize, bp_sim_stream_synchronize(stream));
}

API int cuStreamDestroy_v2(struct bp_sim_stream *stream) {
    CALL(cuStreamDestroy_v2, bp_sim_stream_free(stream));
}

/* A static runtime asks for private tables here, and by one of them for a proof that the driver is
 * NVIDIA's. This one is not. */
API int cuGetExportTable(const void **table, const void *id) {
    (void)id;
    *table = NULL;
    return cudaErrorNotSupported;
}

/* By the name without version, as cuGetProcAddress is asked. */
static void *find(const char *name) {
    static const struct {
        const char *name;
        void *function;
    } known[] = {
        {"cuGetExportTable", (void *)cuGetExportTable},
        {"cuInit", (void *)cuInit},
#define X(name, id) {#name, (void *)name},
#include "cuda/sim/driver.def"
#undef X
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strncmp(known[i].name, name, length) &&
            (!known[i].name[length] || !strcmp(known[i].name + length, "_v2")))
            return known[i].function;
    return NULL;
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    (void)version, (void)flags;
    *function = find(name);
    return *function ? 0 : NOT_FOUND;
}

API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *status) {
    int error = cuGetProcAddress(name, function, version, flags);
    if (!strcmp(name, "cuGetProcAddress"))
        *function = (void *)cuGetProcAddress_v2;
    if (status)
        *status = *function ? 0 : 1;
    return *function ? 0 : error;
}
