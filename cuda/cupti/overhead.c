/* SPDX-License-Identifier: MIT
 *
 * What CUPTI says that it and the driver did beside the calls' own work. Some records come with
 * memory from malloc that is for the tool to free: after the walk through a buffer, when our lock
 * is not held, since the target's own free may do anything.
 */
#include "cuda/cupti/overhead.h"

#include <stdlib.h>

#include "cuda/cupti/abi.h"
#include "cuda/internal.h"
#include "cuda/sums.h"

static uint64_t *sum_of(uint32_t kind) {
    struct bp_collector *collector = bp_sums.collector;
    switch (kind) {
    case BP_CUPTI_OVERHEAD_DRIVER_COMPILER:
    case BP_CUPTI_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
    case BP_CUPTI_OVERHEAD_LAZY_FUNCTION_LOADING:
        return &collector->loading_time;
    case BP_CUPTI_OVERHEAD_COMMAND_BUFFER_FULL:
        return &collector->full_time;
    default:
        return &collector->cupti_time;
    }
}

void bp_overhead_take(const void *record, struct bp_garbage *garbage) {
    uint32_t kind = bp_cupti_OVERHEAD_overheadKind(record);
    uint64_t start = bp_cupti_OVERHEAD_start(record), end = bp_cupti_OVERHEAD_end(record);
    if (end > start)
        *sum_of(kind) += (uint64_t)((double)(end - start) * (double)bp_cuda.ticks_per_s / 1e9);
    /* The kind is as old as the field is. */
    if (kind == BP_CUPTI_OVERHEAD_COMMAND_BUFFER_FULL && garbage->count < BP_GARBAGE)
        garbage->items[garbage->count++] = bp_cupti_OVERHEAD3_overheadData(record);
}

void bp_overhead_free(struct bp_garbage *garbage) {
    for (uint32_t i = 0; i < garbage->count; i++)
        free(garbage->items[i]);
}
