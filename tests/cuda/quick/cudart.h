/* SPDX-License-Identifier: MIT
 *
 * The runtime that takes no time, for the subjects that are linked with it.
 */
#ifndef BP_TESTS_CUDA_QUICK_CUDART_H
#define BP_TESTS_CUDA_QUICK_CUDART_H

#include <stddef.h>

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3 };

int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind, void *stream);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);
int cudaStreamQuery(void *stream);

/* These fail if an argument was lost on the way: pitches have to be 1 and 2 more than the width,
 * offsets 3 and 4, devices 5 and 6, and the stream this one. */
#define STREAM ((void *)7)
int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                 size_t width, size_t height, int kind);
int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t width, size_t height, int kind, void *stream);
int cudaMemcpyToSymbol(const void *symbol, const void *source, size_t size, size_t offset,
                       int kind);
int cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t size, size_t offset,
                              int kind, void *stream);
int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                        size_t size, void *stream);
int cudaMemcpyToArray(void *target, size_t x, size_t y, const void *source, size_t size, int kind);
int cudaMemcpy2DFromArrayAsync(void *target, size_t pitch, const void *source, size_t x, size_t y,
                               size_t width, size_t height, int kind, void *stream);

#endif
