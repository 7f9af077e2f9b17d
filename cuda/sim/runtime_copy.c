/* SPDX-License-Identifier: MIT
 *
 * libcudart: copies and fills. cudaMemcpyKind: 0 host to host, 1 up, 2 down, 3 on the device, 4 by
 * the addresses.
 */
#include "cuda/sim/runtime.h"

#define DEVICE_TO_DEVICE 3

static int copy(void *target, const void *source, size_t size, int kind, bool async,
                bp_stream stream) {
    struct bp_sim_copy copy = {.target = target,
                               .source = source,
                               .width = size,
                               .height = 1,
                               .depth = 1,
                               .direction = kind,
                               .async = async};
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
        return cudaErrorInvalidValue;
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

int bp_sim_copy_of_3d(struct bp_sim_copy *copy, const struct bp_cuda_copy3d *p) {
    if (p->source_array || p->target_array)
        return cudaErrorNotSupported;
    *copy = (struct bp_sim_copy){.target_pitch = p->target.pitch,
                                 .source_pitch = p->source.pitch,
                                 .target_slice = p->target.pitch * p->target.height,
                                 .source_slice = p->source.pitch * p->source.height,
                                 .width = p->size.width,
                                 .height = p->size.height,
                                 .depth = p->size.depth,
                                 .direction = p->kind};
    copy->target = p->target.pointer + p->target_position.z * copy->target_slice +
                   p->target_position.y * copy->target_pitch + p->target_position.x;
    copy->source = p->source.pointer + p->source_position.z * copy->source_slice +
                   p->source_position.y * copy->source_pitch + p->source_position.x;
    return 0;
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
