/* SPDX-License-Identifier: MIT
 *
 * libcudart: arrays, and the textures and surfaces over them. An array is memory in rows; what a
 * texture does when it is read is a kernel's affair, and CPU functions get the handle.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/runtime/runtime.h"

#define MAGIC 0x42415252
#define ALIGNMENT 512

struct channel {
    int bits[4], kind;
};

struct array {
    unsigned magic, flags;
    struct channel channel;
    struct bp_cuda_size size; /* elements; height and depth may be 0 */
    size_t element, pitch;
    char *memory;
};

struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
API struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channel){{x, y, z, w}, kind};
}

static size_t rows(const struct array *array) {
    size_t height = array->size.height ? array->size.height : 1;
    return height * (array->size.depth ? array->size.depth : 1);
}

struct bp_cuda_pitched bp_sim_array_memory(const void *handle) {
    const struct array *array = handle;
    if (!array || array->magic != MAGIC)
        return (struct bp_cuda_pitched){0};
    return (struct bp_cuda_pitched){array->memory, array->pitch, array->element,
                                    array->size.height ? array->size.height : 1};
}

static int make(struct array **to, const struct channel *channel, struct bp_cuda_size size,
                unsigned flags) {
    int bits =
        channel ? channel->bits[0] + channel->bits[1] + channel->bits[2] + channel->bits[3] : 0;
    if (!to || bits <= 0 || bits % 8 || !size.width)
        return cudaErrorInvalidValue;
    struct array *array = malloc(sizeof *array);
    if (!array)
        return cudaErrorMemoryAllocation;
    *array = (struct array){MAGIC, flags, *channel, size, (size_t)bits / 8, 0, NULL};
    array->pitch = (size.width * array->element + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int error = bp_sim_allocate((void **)&array->memory, array->pitch * rows(array), BP_SIM_ARRAY);
    if (error)
        free(array);
    else
        *to = array;
    return error;
}

API int cudaMallocArray(struct array **array, const struct channel *channel, size_t width,
                        size_t height, unsigned flags) {
    CALL(cudaMallocArray, make(array, channel, (struct bp_cuda_size){width, height, 0}, flags));
}

API int cudaMalloc3DArray(struct array **array, const struct channel *channel,
                          struct bp_cuda_size size, unsigned flags) {
    CALL(cudaMalloc3DArray, make(array, channel, size, flags));
}

static int release(struct array *array) {
    if (!array)
        return 0;
    int error = array->magic == MAGIC ? bp_sim_free(array->memory, false) : cudaErrorInvalidValue;
    if (!error) {
        array->magic = 0;
        free(array);
    }
    return error;
}

API int cudaFreeArray(struct array *array) {
    CALL(cudaFreeArray, release(array));
}

static int about(struct channel *channel, struct bp_cuda_size *size, unsigned *flags,
                 const struct array *array) {
    if (!array || array->magic != MAGIC)
        return cudaErrorInvalidResourceHandle;
    if (channel)
        *channel = array->channel;
    if (size)
        *size = array->size;
    if (flags)
        *flags = array->flags;
    return 0;
}

API int cudaArrayGetInfo(struct channel *channel, struct bp_cuda_size *size, unsigned *flags,
                         struct array *array) {
    CALL(cudaArrayGetInfo, about(channel, size, flags, array));
}

API int cudaGetChannelDesc(struct channel *channel, const struct array *array) {
    CALL(cudaGetChannelDesc, about(channel, NULL, NULL, array));
}

/* Rows of `width` bytes between an array, from an offset in bytes and rows, and plain memory. */
struct piece {
    const struct array *array;
    size_t x, y;
    char *memory;
    size_t pitch, width, height;
    bool to, async;
};

static int copy(const struct piece *p, int kind, bp_stream stream) {
    const struct array *array = p->array;
    if (!array || array->magic != MAGIC || p->x + p->width > array->pitch ||
        p->y + p->height > rows(array))
        return cudaErrorInvalidValue;
    if (p->width > p->pitch)
        return cudaErrorInvalidPitchValue;
    char *place = array->memory + p->y * array->pitch + p->x;
    struct bp_sim_copy copy = {.target = p->to ? place : p->memory,
                               .source = p->to ? p->memory : place,
                               .target_pitch = p->to ? array->pitch : p->pitch,
                               .source_pitch = p->to ? p->pitch : array->pitch,
                               .width = p->width,
                               .height = p->height,
                               .depth = 1,
                               .direction = kind,
                               .async = p->async};
    return bp_sim_copy(&copy, stream);
}

#define PIECE(to, async)                                                                           \
    (&(struct piece){array, x, y, (char *)memory, pitch, width, height, to, async})
CALL2(cudaMemcpy2DToArray, _ptds,
      (struct array * array, size_t x, size_t y, const void *memory, size_t pitch, size_t width,
       size_t height, int kind),
      copy(PIECE(true, false), kind, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpy2DToArrayAsync, _ptsz,
      (struct array * array, size_t x, size_t y, const void *memory, size_t pitch, size_t width,
       size_t height, int kind, bp_stream stream),
      copy(PIECE(true, true), kind, STREAM(stream)))
CALL2(cudaMemcpy2DFromArray, _ptds,
      (void *memory, size_t pitch, const struct array *array, size_t x, size_t y, size_t width,
       size_t height, int kind),
      copy(PIECE(false, false), kind, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpy2DFromArrayAsync, _ptsz,
      (void *memory, size_t pitch, const struct array *array, size_t x, size_t y, size_t width,
       size_t height, int kind, bp_stream stream),
      copy(PIECE(false, true), kind, STREAM(stream)))

/* Bytes that go on in the next row: whole rows, or less than one. */
static int copy_bytes(struct piece p, size_t size, int kind, bp_stream stream) {
    size_t row = p.array && p.array->magic == MAGIC ? p.array->size.width * p.array->element : 0;
    bool whole = row && !p.x && size % row == 0;
    if (!row || (!whole && p.x + size > row))
        return row ? cudaErrorNotSupported : cudaErrorInvalidValue;
    p.width = whole ? row : size;
    p.pitch = p.width;
    p.height = whole ? size / row : 1;
    return copy(&p, kind, stream);
}

#define BYTES(to, async) ((struct piece){array, x, y, (char *)memory, 0, 0, 0, to, async})
CALL2(cudaMemcpyToArray, _ptds,
      (struct array * array, size_t x, size_t y, const void *memory, size_t size, int kind),
      copy_bytes(BYTES(true, false), size, kind, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpyToArrayAsync, _ptsz,
      (struct array * array, size_t x, size_t y, const void *memory, size_t size, int kind,
       bp_stream stream),
      copy_bytes(BYTES(true, true), size, kind, STREAM(stream)))
CALL2(cudaMemcpyFromArray, _ptds,
      (void *memory, const struct array *array, size_t x, size_t y, size_t size, int kind),
      copy_bytes(BYTES(false, false), size, kind, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpyFromArrayAsync, _ptsz,
      (void *memory, const struct array *array, size_t x, size_t y, size_t size, int kind,
       bp_stream stream),
      copy_bytes(BYTES(false, true), size, kind, STREAM(stream)))

/* Textures and surfaces: a handle, and what it was made from. */
#define RESOURCE (BP_SIM_CUDA >= 13 ? 144 : 64) /* bytes of cudaResourceDesc */
struct view {
    char resource[RESOURCE];
};

static int make_view(uint64_t *handle, const void *resource) {
    struct view *view = handle && resource ? malloc(sizeof *view) : NULL;
    int error = view ? bp_sim_ready() : cudaErrorInvalidValue;
    if (error) {
        free(view);
        return error;
    }
    memcpy(view->resource, resource, RESOURCE);
    *handle = (uint64_t)(uintptr_t)view;
    return 0;
}

static int free_view(uint64_t handle) {
    free((void *)(uintptr_t)handle);
    return 0;
}

static int view_resource(void *resource, uint64_t handle) {
    if (!handle)
        return cudaErrorInvalidValue;
    memcpy(resource, (const void *)(uintptr_t)handle, RESOURCE);
    return 0;
}

API int cudaCreateTextureObject(uint64_t *handle, const void *resource, const void *texture,
                                const void *shape) {
    (void)texture, (void)shape;
    CALL(cudaCreateTextureObject, make_view(handle, resource));
}

API int cudaDestroyTextureObject(uint64_t handle) {
    CALL(cudaDestroyTextureObject, free_view(handle));
}

API int cudaGetTextureObjectResourceDesc(void *resource, uint64_t handle) {
    CALL(cudaGetTextureObjectResourceDesc, view_resource(resource, handle));
}

API int cudaCreateSurfaceObject(uint64_t *handle, const void *resource) {
    CALL(cudaCreateSurfaceObject, make_view(handle, resource));
}

API int cudaDestroySurfaceObject(uint64_t handle) {
    CALL(cudaDestroySurfaceObject, free_view(handle));
}

API int cudaGetSurfaceObjectResourceDesc(void *resource, uint64_t handle) {
    CALL(cudaGetSurfaceObjectResourceDesc, view_resource(resource, handle));
}
