/* SPDX-License-Identifier: MIT
 *
 * CUPTI's records: from a complete buffer to work whose call is known.
 */
#ifndef BP_CUDA_CUPTI_RECORD_H
#define BP_CUDA_CUPTI_RECORD_H

#include <stddef.h>
#include <stdint.h>

void bp_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid);
int bp_record_init(void);
/* Nothing more will come: what waits for its call has none. The lock is held. */
void bp_record_finish(void);

#endif
