/* SPDX-License-Identifier: MIT
 *
 * libcuda: memory, copies and fills.
 */
#include "cuda/copy.h"
#include "cuda/sim/driver/driver.h"

#define BY_ADDRESS 4

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
                bp_stream stream) {
    struct bp_sim_copy copy = bp_sim_row(target, source, size, direction, async);
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

API int cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t size, bp_stream stream) {
    CALL(cuMemcpyHtoDAsync_v2, copy(target, source, size, 1, true, stream));
}

API int cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t size, bp_stream stream) {
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

/* CUpointer_attribute. */
enum { CONTEXT = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, IS_MANAGED = 8, DEVICE_ORDINAL };

static int attribute(void *value, int which, const void *pointer) {
    struct bp_sim_region region;
    if (!value || !bp_sim_find(pointer, &region))
        return cudaErrorInvalidValue;
    switch (which) {
    case MEMORY_TYPE:
        *(unsigned *)value = region.kind == BP_SIM_PINNED ? BP_CUDA_HOST : BP_CUDA_DEVICE;
        return 0;
    case DEVICE_POINTER:
    case HOST_POINTER:
        *(const void **)value = pointer;
        return which == HOST_POINTER && region.kind == BP_SIM_DEVICE ? cudaErrorInvalidValue : 0;
    case IS_MANAGED:
        *(unsigned *)value = region.kind == BP_SIM_MANAGED;
        return 0;
    case DEVICE_ORDINAL:
        *(int *)value = region.device;
        return 0;
    default:
        return cudaErrorNotSupported;
    }
}

API int cuPointerGetAttribute(void *value, int which, const void *pointer) {
    CALL(cuPointerGetAttribute, attribute(value, which, pointer));
}

static int fill(void *target, size_t pitch, unsigned value, size_t width, size_t height,
                unsigned element, bool async, bp_stream stream) {
    struct bp_sim_set set = {target, pitch, width * element, height, value, async, element};
    return bp_sim_set(&set, stream);
}

#define FILLS(bits, type)                                                                          \
    API int cuMemsetD##bits##_v2(void *target, type value, size_t count) {                         \
        CALL(cuMemsetD##bits##_v2, fill(target, 0, value, count, 1, sizeof(type), false, NULL));   \
    }                                                                                              \
    API int cuMemsetD##bits##Async(void *target, type value, size_t count, bp_stream stream) {     \
        CALL(cuMemsetD##bits##Async,                                                               \
             fill(target, 0, value, count, 1, sizeof(type), true, stream));                        \
    }                                                                                              \
    API int cuMemsetD2D##bits##_v2(void *target, size_t pitch, type value, size_t width,           \
                                   size_t height) {                                                \
        CALL(cuMemsetD2D##bits##_v2,                                                               \
             fill(target, pitch, value, width, height, sizeof(type), false, NULL));                \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

API int cuMemcpyAsync(void *target, const void *source, size_t size, bp_stream stream) {
    CALL(cuMemcpyAsync, copy(target, source, size, BY_ADDRESS, true, stream));
}

API int cuMemcpyDtoDAsync_v2(void *target, const void *source, size_t size, bp_stream stream) {
    CALL(cuMemcpyDtoDAsync_v2, copy(target, source, size, 3, true, stream));
}

API int cuMemcpyPeerAsync(void *target, void *to, const void *source, void *from, size_t size,
                          bp_stream stream) {
    (void)to, (void)from;
    CALL(cuMemcpyPeerAsync, copy(target, source, size, BY_ADDRESS, true, stream));
}

API int cuMemGetInfo_v2(size_t *unused, size_t *all) {
    CALL(cuMemGetInfo_v2, bp_sim_memory_info(unused, all));
}

API int cuMemAllocManaged(void **memory, size_t size, unsigned flags) {
    (void)flags;
    CALL(cuMemAllocManaged,
         size ? bp_sim_allocate(memory, size, BP_SIM_MANAGED) : cudaErrorInvalidValue);
}

API int cuMemAllocPitch_v2(void **memory, size_t *pitch, size_t width, size_t height,
                           unsigned element) {
    (void)element;
    *pitch = (width + 511) & ~(size_t)511;
    CALL(cuMemAllocPitch_v2, bp_sim_allocate(memory, *pitch * height, BP_SIM_DEVICE));
}

API int cuMemAllocAsync(void **memory, size_t size, bp_stream stream) {
    CALL(cuMemAllocAsync,
         bp_sim_allocate_async(memory, size, bp_sim_pool_default(bp_sim_device()), stream));
}

API int cuMemFreeAsync(void *memory, bp_stream stream) {
    CALL(cuMemFreeAsync, bp_sim_free_async(memory, stream));
}

API int cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    CALL(cuMemHostAlloc, bp_sim_allocate(memory, size, BP_SIM_PINNED));
}

API int cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
    (void)flags;
    CALL(cuMemHostRegister_v2, bp_sim_register(memory, size));
}

API int cuMemHostUnregister(void *memory) {
    CALL(cuMemHostUnregister, bp_sim_unregister(memory));
}

API int cuMemHostGetDevicePointer_v2(void **device, void *host, unsigned flags) {
    struct bp_sim_region region;
    (void)flags;
    *device = host;
    CALL(cuMemHostGetDevicePointer_v2, bp_sim_find(host, &region) ? 0 : cudaErrorInvalidValue);
}

/* Processes do not share a device. */
API int cuIpcGetMemHandle(void *handle, void *memory) {
    (void)handle, (void)memory;
    CALL(cuIpcGetMemHandle, cudaErrorNotSupported);
}

struct ipc_handle {
    char bytes[64];
};

API int cuIpcOpenMemHandle_v2(void **memory, struct ipc_handle handle, unsigned flags) {
    (void)memory, (void)handle, (void)flags;
    CALL(cuIpcOpenMemHandle_v2, cudaErrorNotSupported);
}

API int cuIpcCloseMemHandle(void *memory) {
    (void)memory;
    CALL(cuIpcCloseMemHandle, cudaErrorNotSupported);
}
