/* SPDX-License-Identifier: MIT
 *
 * Memory for CUPTI's records.
 */
#ifndef BP_CUDA_CUPTI_BUFFER_H
#define BP_CUDA_CUPTI_BUFFER_H

#include <stddef.h>
#include <stdint.h>

void bp_buffer_requested(uint8_t **buffer, size_t *size, size_t *records);
void bp_buffer_give(uint8_t *buffer, size_t size);

#endif
