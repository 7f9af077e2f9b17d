/* SPDX-License-Identifier: MIT
 *
 * A libcudart.so.12 whose calls take no time: what is left of a call is what intercepting it costs.
 * It touches no memory, so copies may be of any size; one of 13 bytes fails.
 */
#include "tests/cuda/quick/cudart.h"

#define UNLUCKY 13
#define INVALID_VALUE 1

static int copy(size_t size) {
    __asm__ volatile("");
    return size == UNLUCKY ? INVALID_VALUE : 0;
}

int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind, void *stream) {
    (void)target, (void)source, (void)kind, (void)stream;
    return copy(size);
}

int cudaMemcpy(void *target, const void *source, size_t size, int kind) {
    (void)target, (void)source, (void)kind;
    return copy(size);
}

int cudaStreamQuery(void *stream) {
    (void)stream;
    __asm__ volatile("");
    return 0;
}

static int if_whole(int whole, size_t size) {
    return whole ? copy(size) : INVALID_VALUE;
}

int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                 size_t width, size_t height, int kind) {
    return if_whole(target && source && target_pitch == width + 1 && source_pitch == width + 2 &&
                        kind > 0,
                    width * height);
}

int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t width, size_t height, int kind, void *stream) {
    return if_whole(target && source && target_pitch == width + 1 && source_pitch == width + 2 &&
                        kind > 0 && stream == STREAM,
                    width * height);
}

int cudaMemcpyToSymbol(const void *symbol, const void *source, size_t size, size_t offset,
                       int kind) {
    return if_whole(symbol && source && offset == 3 && kind > 0, size);
}

int cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t size, size_t offset,
                              int kind, void *stream) {
    return if_whole(target && symbol && offset == 3 && kind > 0 && stream == STREAM, size);
}

int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                        size_t size, void *stream) {
    return if_whole(
        target && source && target_device == 5 && source_device == 6 && stream == STREAM, size);
}

int cudaMemcpyToArray(void *target, size_t x, size_t y, const void *source, size_t size, int kind) {
    return if_whole(target && source && x == 3 && y == 4 && kind > 0, size);
}

int cudaMemcpy2DFromArrayAsync(void *target, size_t pitch, const void *source, size_t x, size_t y,
                               size_t width, size_t height, int kind, void *stream) {
    return if_whole(target && source && pitch == width + 1 && x == 3 && y == 4 && kind > 0 &&
                        stream == STREAM,
                    width * height);
}
