/* SPDX-License-Identifier: MIT
 *
 * What the files of the simulated libcupti share: formatting a record (cupti_record.c), buffers and
 * their delivery (cupti_buffer.c), and the exported functions (cupti.c).
 */
#ifndef BP_CUDA_SIM_CUPTI_CUPTI_H
#define BP_CUDA_SIM_CUPTI_CUPTI_H

#include <stdbool.h>

#include "cuda/sim/cupti/records.h"
#include "cuda/sim/sim.h"

enum {
    BP_CUPTI_SUCCESS = 0,
    BP_CUPTI_INVALID_PARAMETER = 1,
    BP_CUPTI_MAX_LIMIT_REACHED = 12,
    BP_CUPTI_NOT_INITIALIZED = 15,
    BP_CUPTI_QUEUE_EMPTY = 18,
    BP_CUPTI_INVALID_KIND = 21,
    BP_CUPTI_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE = 29,
    BP_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    BP_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    BP_CUPTI_UNKNOWN = 999,
};

typedef void (*bp_cupti_request)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*bp_cupti_complete)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t valid);

/* True if the kind is enabled. */
bool bp_cupti_wants(uint32_t kind);

/* True if that counter of managed memory is, on the device. */
bool bp_cupti_counts(uint32_t counter, uint32_t device);

/* The CUPTI record of what the device tells, if it is wanted. */
bool bp_cupti_format(union bp_cupti_record *to, const struct bp_sim_record *from);
uint32_t bp_cupti_thread(const struct bp_sim_record *record);

void bp_cupti_set_callbacks(bp_cupti_request request, bp_cupti_complete complete);
/* Writes a record, at once or when the work that it tells of is over at `end`. */
void bp_cupti_write(const union bp_cupti_record *record, uint64_t end);
/* Hands over what is complete, from this thread. */
void bp_cupti_flush(void);
void bp_cupti_flush_every(uint32_t ms);
size_t bp_cupti_take_dropped(void);

#endif
