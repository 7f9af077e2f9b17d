/* SPDX-License-Identifier: MIT
 *
 * libcudart: memory; runtime_pool.c has pools.
 */
#include <string.h>

#include "cuda/sim/runtime/runtime.h"

API int cudaMalloc(void **memory, size_t size) {
    CALL(cudaMalloc, bp_sim_allocate(memory, size, BP_SIM_DEVICE));
}

API int cudaFree(void *memory) {
    CALL(cudaFree, bp_sim_free(memory, false));
}

API int cudaMallocHost(void **memory, size_t size) {
    CALL(cudaMallocHost, bp_sim_allocate(memory, size, BP_SIM_PINNED));
}

API int cudaHostAlloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    CALL(cudaHostAlloc, bp_sim_allocate(memory, size, BP_SIM_PINNED));
}

API int cudaFreeHost(void *memory) {
    CALL(cudaFreeHost, bp_sim_free(memory, true));
}

API int cudaHostRegister(void *memory, size_t size, unsigned flags) {
    (void)flags;
    CALL(cudaHostRegister, bp_sim_register(memory, size));
}

API int cudaHostUnregister(void *memory) {
    CALL(cudaHostUnregister, bp_sim_unregister(memory));
}

/* flags: all devices see it, or the host alone does at first, which is the same here. */
static int allocate_managed(void **memory, size_t size, unsigned flags) {
    return size && (flags == 1 || flags == 2) ? bp_sim_allocate(memory, size, BP_SIM_MANAGED)
                                              : cudaErrorInvalidValue;
}

API int cudaMallocManaged(void **memory, size_t size, unsigned flags) {
    CALL(cudaMallocManaged, allocate_managed(memory, size, flags));
}

static int allocate_pitch(void **memory, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) & ~(size_t)511;
    return bp_sim_allocate(memory, *pitch * height, BP_SIM_DEVICE);
}

API int cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height) {
    CALL(cudaMallocPitch, allocate_pitch(memory, pitch, width, height));
}

static int allocate_3d(struct bp_cuda_pitched *memory, struct bp_cuda_size size) {
    memory->width = size.width;
    memory->height = size.height;
    return allocate_pitch((void **)&memory->pointer, &memory->pitch, size.width,
                          size.height * size.depth);
}

API int cudaMalloc3D(struct bp_cuda_pitched *memory, struct bp_cuda_size size) {
    CALL(cudaMalloc3D, allocate_3d(memory, size));
}

CALL2(cudaFreeAsync, _ptsz, (void *memory, bp_stream stream),
      bp_sim_free_async(memory, STREAM(stream)))

static int host_device_pointer(void **device, void *host) {
    struct bp_sim_region region;
    int error = bp_sim_ready();
    if (!error && !bp_sim_find(host, &region))
        error = cudaErrorInvalidValue;
    if (!error)
        *device = host;
    return error;
}

API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)flags;
    CALL(cudaHostGetDevicePointer, host_device_pointer(device, host));
}

API int cudaHostGetFlags(unsigned *flags, void *host) {
    void *device;
    *flags = 0;
    CALL(cudaHostGetFlags, host_device_pointer(&device, host));
}

API int cudaMemGetInfo(size_t *unused, size_t *total) {
    CALL(cudaMemGetInfo, bp_sim_memory_info(unused, total));
}

struct pointer_attributes {
    int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
    int device;
    void *device_pointer, *host_pointer;
#if BP_SIM_CUDA >= 13
    long reserved[8];
#endif
};

static int pointer_attributes(struct pointer_attributes *attributes, void *pointer) {
    struct bp_sim_region region;
    int error = bp_sim_ready();
    memset(attributes, 0, sizeof *attributes);
    if (error)
        return error;
    bool found = bp_sim_find(pointer, &region);
    attributes->device = found ? region.device : -2;
    attributes->type = !found                         ? 0
                       : region.kind == BP_SIM_PINNED ? 1
                       : region.kind == BP_SIM_DEVICE ? 2
                                                      : 3;
    attributes->device_pointer = found ? pointer : NULL;
    attributes->host_pointer = region.kind == BP_SIM_DEVICE ? NULL : pointer;
    return 0;
}

API int cudaPointerGetAttributes(struct pointer_attributes *attributes, void *pointer) {
    CALL(cudaPointerGetAttributes, pointer_attributes(attributes, pointer));
}

/* Advice changes nothing. */
struct location {
    int type, id; /* 1: a device; 2: the host */
};
#define LOCATED (void *memory, size_t size, struct location to, unsigned flags, bp_stream stream)
#define PREFETCH_LOCATED                                                                           \
    ((void)flags, bp_sim_prefetch(memory, size, to.type == 1 ? to.id : -1, STREAM(stream)))
#if BP_SIM_CUDA >= 13
CALL2(cudaMemPrefetchAsync, _ptsz, LOCATED, PREFETCH_LOCATED)
API int cudaMemAdvise(void *memory, size_t size, int advice, struct location location) {
    (void)memory, (void)size, (void)advice, (void)location;
    CALL(cudaMemAdvise, bp_sim_ready());
}
#else
CALL2(cudaMemPrefetchAsync, _ptsz, (void *memory, size_t size, int device, bp_stream stream),
      bp_sim_prefetch(memory, size, device, STREAM(stream)))
API int cudaMemAdvise(void *memory, size_t size, int advice, int device) {
    (void)memory, (void)size, (void)advice, (void)device;
    CALL(cudaMemAdvise, bp_sim_ready());
}
#endif
#if BP_SIM_CUDA == 12
CALL2(cudaMemPrefetchAsync_v2, _ptsz, LOCATED, PREFETCH_LOCATED)
API int cudaMemAdvise_v2(void *memory, size_t size, int advice, struct location location) {
    (void)memory, (void)size, (void)advice, (void)location;
    CALL(cudaMemAdvise_v2, bp_sim_ready());
}
#endif
