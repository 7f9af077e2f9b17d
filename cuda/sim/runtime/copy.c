/* SPDX-License-Identifier: MIT
 *
 * libcudart: copies and fills. cudaMemcpyKind: 0 host to host, 1 up, 2 down, 3 on the device, 4 by
 * the addresses.
 */
#include "cuda/sim/runtime/runtime.h"

#define DEVICE_TO_DEVICE 3

static int copy(void *target, const void *source, size_t size, int kind, bool async,
                bp_stream stream) {
    struct bp_sim_copy copy = bp_sim_row(target, source, size, kind, async);
    return bp_sim_copy(&copy, stream);
}

CALL2(cudaMemcpy, _ptds, (void *target, const void *source, size_t size, int kind),
      copy(target, source, size, kind, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpyAsync, _ptsz,
      (void *target, const void *source, size_t size, int kind, bp_stream stream),
      copy(target, source, size, kind, true, STREAM(stream)))

static int copy_2d(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                   size_t width, size_t height, int kind, bool async, bp_stream stream) {
    struct bp_sim_copy copy = {.target = target,
                               .source = source,
                               .target_pitch = target_pitch,
                               .source_pitch = source_pitch,
                               .width = width,
                               .height = height,
                               .depth = 1,
                               .direction = kind,
                               .async = async};
    if (width > target_pitch || width > source_pitch)
        return cudaErrorInvalidPitchValue;
    return bp_sim_copy(&copy, stream);
}

CALL2(cudaMemcpy2D, _ptds,
      (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
       size_t height, int kind),
      copy_2d(target, target_pitch, source, source_pitch, width, height, kind, false,
              STREAM((bp_stream)NULL)))
CALL2(cudaMemcpy2DAsync, _ptsz,
      (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
       size_t height, int kind, bp_stream stream),
      copy_2d(target, target_pitch, source, source_pitch, width, height, kind, true,
              STREAM(stream)))

/* One side of a copy: with an array, positions are in elements, and its rows have its own pitch. */
static char *place(const void *array, struct bp_cuda_position at, struct bp_cuda_pitched plain,
                   size_t *pitch, size_t *slice) {
    struct bp_cuda_pitched in = array ? bp_sim_array_memory(array) : plain;
    *pitch = in.pitch;
    *slice = in.pitch * in.height;
    return in.pointer + at.z * *slice + at.y * in.pitch + at.x * (array ? in.width : 1);
}

int bp_sim_copy_of_3d(struct bp_sim_copy *copy, const struct bp_cuda_copy3d *p) {
    const void *array = p->target_array ? p->target_array : p->source_array;
    *copy = (struct bp_sim_copy){.width = p->size.width,
                                 .height = p->size.height,
                                 .depth = p->size.depth,
                                 .direction = p->kind};
    if (array)
        copy->width *= bp_sim_array_memory(array).width;
    copy->target = place(p->target_array, p->target_position, p->target, &copy->target_pitch,
                         &copy->target_slice);
    copy->source = place(p->source_array, p->source_position, p->source, &copy->source_pitch,
                         &copy->source_slice);
    return copy->target && copy->source ? 0 : cudaErrorInvalidValue;
}

static int copy_3d(const struct bp_cuda_copy3d *p, bool async, bp_stream stream) {
    struct bp_sim_copy copy;
    int error = bp_sim_copy_of_3d(&copy, p);
    copy.async = async;
    return error ? error : bp_sim_copy(&copy, stream);
}

CALL2(cudaMemcpy3D, _ptds, (const struct bp_cuda_copy3d *parameters),
      copy_3d(parameters, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpy3DAsync, _ptsz, (const struct bp_cuda_copy3d *parameters, bp_stream stream),
      copy_3d(parameters, true, STREAM(stream)))

struct copy3d_peer {
    void *source_array;
    struct bp_cuda_position source_position;
    struct bp_cuda_pitched source;
    int source_device;
    void *target_array;
    struct bp_cuda_position target_position;
    struct bp_cuda_pitched target;
    int target_device;
    struct bp_cuda_size size;
};

static int copy_3d_peer(const struct copy3d_peer *p, bool async, bp_stream stream) {
    struct bp_cuda_copy3d parameters = {p->source_array, p->source_position, p->source,
                                        p->target_array, p->target_position, p->target,
                                        p->size,         DEVICE_TO_DEVICE};
    return copy_3d(&parameters, async, stream);
}

CALL2(cudaMemcpy3DPeer, _ptds, (const struct copy3d_peer *parameters),
      copy_3d_peer(parameters, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpy3DPeerAsync, _ptsz, (const struct copy3d_peer *parameters, bp_stream stream),
      copy_3d_peer(parameters, true, STREAM(stream)))

/* Unified addresses tell the devices. */
API int cudaMemcpyPeer(void *target, int to, const void *source, int from, size_t size) {
    (void)to, (void)from;
    CALL(cudaMemcpyPeer, copy(target, source, size, DEVICE_TO_DEVICE, false, NULL));
}

API int cudaMemcpyPeerAsync(void *target, int to, const void *source, int from, size_t size,
                            bp_stream stream) {
    (void)to, (void)from;
    CALL(cudaMemcpyPeerAsync, copy(target, source, size, DEVICE_TO_DEVICE, true, stream));
}

/* Copies to (source is the program's) or from a variable. */
static int copy_symbol(const void *symbol, void *other, size_t size, size_t offset, int kind,
                       bool to, bool async, bp_stream stream) {
    void *memory;
    size_t room;
    int error = bp_sim_ready();
    if (!error)
        error = bp_sim_symbol_at(symbol, &memory, &room);
    if (error)
        return error;
    if (offset > room || size > room - offset)
        return cudaErrorInvalidValue;
    char *place = (char *)memory + offset;
    return copy(to ? place : other, to ? other : place, size, kind, async, stream);
}

CALL2(cudaMemcpyToSymbol, _ptds,
      (const void *symbol, const void *source, size_t size, size_t offset, int kind),
      copy_symbol(symbol, (void *)source, size, offset, kind, true, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpyToSymbolAsync, _ptsz,
      (const void *symbol, const void *source, size_t size, size_t offset, int kind,
       bp_stream stream),
      copy_symbol(symbol, (void *)source, size, offset, kind, true, true, STREAM(stream)))
CALL2(cudaMemcpyFromSymbol, _ptds,
      (void *target, const void *symbol, size_t size, size_t offset, int kind),
      copy_symbol(symbol, target, size, offset, kind, false, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemcpyFromSymbolAsync, _ptsz,
      (void *target, const void *symbol, size_t size, size_t offset, int kind, bp_stream stream),
      copy_symbol(symbol, target, size, offset, kind, false, true, STREAM(stream)))

API int cudaGetSymbolAddress(void **memory, const void *symbol) {
    CALL(cudaGetSymbolAddress, bp_sim_symbol_at(symbol, memory, NULL));
}

API int cudaGetSymbolSize(size_t *size, const void *symbol) {
    CALL(cudaGetSymbolSize, bp_sim_symbol_at(symbol, NULL, size));
}

static int fill(void *target, size_t pitch, int value, size_t width, size_t height, bool async,
                bp_stream stream) {
    struct bp_sim_set set = {target, pitch, width, height, (unsigned)value, async, 1};
    return bp_sim_set(&set, stream);
}

CALL2(cudaMemset, _ptds, (void *target, int value, size_t size),
      fill(target, size, value, size, 1, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemsetAsync, _ptsz, (void *target, int value, size_t size, bp_stream stream),
      fill(target, size, value, size, 1, true, STREAM(stream)))
CALL2(cudaMemset2D, _ptds, (void *target, size_t pitch, int value, size_t width, size_t height),
      fill(target, pitch, value, width, height, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemset2DAsync, _ptsz,
      (void *target, size_t pitch, int value, size_t width, size_t height, bp_stream stream),
      fill(target, pitch, value, width, height, true, STREAM(stream)))

/* Slices that leave no row out are one fill. */
static int fill_3d(struct bp_cuda_pitched to, int value, struct bp_cuda_size size, bool async,
                   bp_stream stream) {
    bool whole = size.height == to.height;
    size_t fills = whole ? 1 : size.depth, rows = whole ? size.height * size.depth : size.height;
    int error = size.width > to.pitch ? cudaErrorInvalidValue : 0;
    for (size_t z = 0; z < fills && !error; z++)
        error = fill(to.pointer + z * to.pitch * to.height, to.pitch, value, size.width, rows,
                     async, stream);
    return error;
}

CALL2(cudaMemset3D, _ptds, (struct bp_cuda_pitched to, int value, struct bp_cuda_size size),
      fill_3d(to, value, size, false, STREAM((bp_stream)NULL)))
CALL2(cudaMemset3DAsync, _ptsz,
      (struct bp_cuda_pitched to, int value, struct bp_cuda_size size, bp_stream stream),
      fill_3d(to, value, size, true, STREAM(stream)))
