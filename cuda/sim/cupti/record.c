/* SPDX-License-Identifier: MIT
 *
 * See cupti.h. CUPTI's clock is CLOCK_REALTIME.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/sim/cupti/cupti.h"

size_t bp_cupti_size(uint32_t kind) {
    switch (kind) {
#define X(kind, structure, in11, in12, in13)                                                       \
    case kind:                                                                                     \
        return BP_SIM_CUDA == 11 ? (in11) : BP_SIM_CUDA == 12 ? (in12) : (in13);
        BP_CUPTI_SIZES(X)
#undef X
    default:
        return 0;
    }
}

static uint32_t context_of(uint32_t device) {
    return device + 1;
}

/* CUPTI has numbers of their own for copies of arrays. */
static uint8_t copy_kind(const struct bp_sim_record *from) {
    enum { HTOA = 3, ATOH, ATOA, ATOD, DTOA };
    bool to = from->target == BP_SIM_ARRAY, out = from->source == BP_SIM_ARRAY;
    if (from->copy == BP_SIM_HTOD && to)
        return HTOA;
    if (from->copy == BP_SIM_DTOH && out)
        return ATOH;
    if (from->copy == BP_SIM_DTOD && (to || out))
        return to && out ? ATOA : to ? DTOA : ATOD;
    return (uint8_t)from->copy;
}

static bool format_copy(union bp_cupti_record *to, const struct bp_sim_record *from) {
    bool peer = from->copy == BP_SIM_PTOP;
    to->memcpy = (struct bp_cupti_memcpy){
        .kind = peer ? BP_CUPTI_MEMCPY2 : BP_CUPTI_MEMCPY,
        .copy = copy_kind(from),
        .source = (uint8_t)from->source,
        .target = (uint8_t)from->target,
        .flags = from->async,
        .bytes = from->bytes,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .device = from->device,
        .context = context_of(from->device),
        .stream = from->stream,
        .correlation = from->correlation,
        .runtime_correlation = from->runtime_correlation,
        .node = from->node,
        .graph = from->graph,
    };
    if (peer) {
        to->memcpy2.source_device = from->source_device;
        to->memcpy2.source_context = context_of(from->source_device);
        to->memcpy2.target_device = from->target_device;
        to->memcpy2.target_context = context_of(from->target_device);
        to->memcpy2.correlation = from->correlation;
        to->memcpy2.node = from->node;
        to->memcpy2.graph = from->graph;
    }
    return bp_cupti_wants(to->kind);
}

static bool format_migration(union bp_cupti_record *to, const struct bp_sim_record *from) {
    uint32_t counter = from->copy == BP_SIM_HTOD   ? BP_CUPTI_COUNTER_HTOD
                       : from->copy == BP_SIM_DTOH ? BP_CUPTI_COUNTER_DTOH
                                                   : BP_CUPTI_COUNTER_DTOD;
    to->migration = (struct bp_cupti_migration){
        .kind = BP_CUPTI_UNIFIED_MEMORY_COUNTER,
        .counter = counter,
        .bytes = from->bytes,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .address = from->address,
        .source = from->source_device,
        .target = from->target_device,
        .process = (uint32_t)getpid(),
        .flags = from->value,
    };
    return bp_cupti_wants(to->kind) && bp_cupti_counts(counter, from->device);
}

/* An instant, the page and the instruction: neither how long nor whose. */
static bool format_fault(union bp_cupti_record *to, const struct bp_sim_record *from) {
    to->migration = (struct bp_cupti_migration){
        .kind = BP_CUPTI_UNIFIED_MEMORY_COUNTER,
        .counter = BP_CUPTI_COUNTER_CPU_FAULT,
        .bytes = (uint64_t)(uintptr_t)from->name,
        .start = bp_sim_realtime(from->start),
        .address = from->address,
        .process = (uint32_t)getpid(),
    };
    return bp_cupti_wants(to->kind) && bp_cupti_counts(BP_CUPTI_COUNTER_CPU_FAULT, from->device);
}

static bool format_set(union bp_cupti_record *to, const struct bp_sim_record *from) {
    to->memset = (struct bp_cupti_memset){
        .kind = BP_CUPTI_MEMSET,
        .value = from->value,
        .bytes = from->bytes,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .device = from->device,
        .context = context_of(from->device),
        .stream = from->stream,
        .correlation = from->correlation,
        .flags = from->async,
        .memory = (uint16_t)from->target,
        .node = from->node,
        .graph = from->graph,
    };
    return bp_cupti_wants(BP_CUPTI_MEMSET);
}

static bool format_kernel(union bp_cupti_record *to, const struct bp_sim_record *from) {
    to->kernel = (struct bp_cupti_kernel){
        .kind = bp_cupti_wants(BP_CUPTI_KERNEL) ? BP_CUPTI_KERNEL : BP_CUPTI_CONCURRENT_KERNEL,
        .registers = 32,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .device = from->device,
        .context = context_of(from->device),
        .stream = from->stream,
        .grid = {(int)from->grid.x, (int)from->grid.y, (int)from->grid.z},
        .block = {(int)from->block.x, (int)from->block.y, (int)from->block.z},
        .dynamic_shared = (int)from->shared,
        .correlation = from->correlation,
        .grid_id = from->correlation,
        .name = from->name,
        .node = from->node,
        .graph = from->graph,
    };
    return bp_cupti_wants(to->kind);
}

static bool format_sync(union bp_cupti_record *to, const struct bp_sim_record *from) {
    to->sync = (struct bp_cupti_sync){
        .kind = BP_CUPTI_SYNCHRONIZATION,
        .type = from->value,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .correlation = from->correlation,
        .context = context_of(from->device),
        .stream = from->value == 3 ? from->stream : UINT32_MAX,
    };
    return bp_cupti_wants(BP_CUPTI_SYNCHRONIZATION);
}

static bool format_memory(union bp_cupti_record *to, const struct bp_sim_record *from) {
    to->memory = (struct bp_cupti_memory){
        .kind = BP_CUPTI_MEMORY2,
        .operation = from->value,
        .memory = from->target,
        .correlation = from->correlation,
        .address = from->address,
        .bytes = from->bytes,
        .timestamp = bp_sim_realtime(from->start),
        .process = (uint32_t)getpid(),
        .device = from->device,
        .context = context_of(from->device),
    };
    return bp_cupti_wants(BP_CUPTI_MEMORY2);
}

static bool format_call(union bp_cupti_record *to, const struct bp_sim_record *from) {
    bool driver = from->cbid & BP_SIM_DRIVER_CALL;
    to->api = (struct bp_cupti_api){
        .kind = driver ? BP_CUPTI_DRIVER : BP_CUPTI_RUNTIME,
        .cbid = from->cbid & ~BP_SIM_DRIVER_CALL,
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .process = (uint32_t)getpid(),
        .thread = bp_cupti_thread(from),
        .correlation = from->correlation,
        .result = from->result,
    };
    return bp_cupti_wants(to->kind);
}

/* With what a full queue is about, which is the tool's to free. CUDA 11 does not tell of that. */
static bool format_overhead(union bp_cupti_record *to, const struct bp_sim_record *from) {
    bool full = from->value == BP_SIM_QUEUE_FULL;
    to->overhead = (struct bp_cupti_overhead){
        .kind = BP_CUPTI_OVERHEAD,
        .overhead = from->value,
        .object_kind = 2, /* a thread */
        .process = (uint32_t)getpid(),
        .thread = bp_cupti_thread(from),
        .start = bp_sim_realtime(from->start),
        .end = bp_sim_realtime(from->end),
        .correlation = from->correlation,
    };
    if (!bp_cupti_wants(BP_CUPTI_OVERHEAD) || (full && BP_SIM_CUDA == 11))
        return false;
    to->overhead.data = full ? calloc(1, 16) : NULL;
    return true;
}

/* CUPTI has 0 for both times where it could not take them; as a fault so has every eighth record.
 */
static bool take_times(union bp_cupti_record *record, bool wanted) {
    static uint32_t count;
    if (wanted && bp_sim_fault() == BP_SIM_FAULT_NO_TIMES &&
        __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) % 8 == 0)
        record->memcpy.start = record->memcpy.end = 0; /* where those of others are */
    return wanted;
}

bool bp_cupti_format(union bp_cupti_record *to, const struct bp_sim_record *from) {
    memset(to, 0, sizeof *to);
    switch (from->kind) {
    case BP_SIM_RECORD_CALL:
        return format_call(to, from);
    case BP_SIM_RECORD_COPY:
        return take_times(to, format_copy(to, from));
    case BP_SIM_RECORD_MIGRATION:
        return format_migration(to, from);
    case BP_SIM_RECORD_SET:
        return take_times(to, format_set(to, from));
    case BP_SIM_RECORD_KERNEL:
        return take_times(to, format_kernel(to, from));
    case BP_SIM_RECORD_SYNC:
        return format_sync(to, from);
    case BP_SIM_RECORD_MEMORY:
        return format_memory(to, from);
    case BP_SIM_RECORD_FAULT:
        return format_fault(to, from);
    case BP_SIM_RECORD_OVERHEAD:
        return format_overhead(to, from);
    default:
        return false;
    }
}
