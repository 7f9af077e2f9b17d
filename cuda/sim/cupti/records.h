/* SPDX-License-Identifier: MIT
 *
 * Activity records as the simulated libcupti writes them: the fields it fills, at the places where
 * all generations have them, and each generation's sizes. A test compares with real CUPTI headers.
 */
#ifndef BP_CUDA_SIM_CUPTI_RECORDS_H
#define BP_CUDA_SIM_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#ifndef BP_SIM_CUDA
#    define BP_SIM_CUDA 13
#endif

enum bp_cupti_kind {
    BP_CUPTI_MEMCPY = 1,
    BP_CUPTI_MEMSET = 2,
    BP_CUPTI_KERNEL = 3,
    BP_CUPTI_DRIVER = 4,
    BP_CUPTI_RUNTIME = 5,
    BP_CUPTI_CONCURRENT_KERNEL = 10,
    BP_CUPTI_OVERHEAD = 17,
    BP_CUPTI_MEMCPY2 = 22,
    BP_CUPTI_UNIFIED_MEMORY_COUNTER = 25,
    BP_CUPTI_SYNCHRONIZATION = 38,
    BP_CUPTI_EXTERNAL_CORRELATION = 39,
    BP_CUPTI_MEMORY2 = 49,
    BP_CUPTI_KINDS = 55,
};

/* X(kind, structure, size in 11.8, 12.4, 13.0) */
#define BP_CUPTI_SIZES(X)                                                                          \
    X(BP_CUPTI_MEMCPY, bp_cupti_memcpy, 88, 88, 96)                                                \
    X(BP_CUPTI_MEMSET, bp_cupti_memset, 88, 88, 88)                                                \
    X(BP_CUPTI_KERNEL, bp_cupti_kernel, 200, 208, 216)                                             \
    X(BP_CUPTI_DRIVER, bp_cupti_api, 40, 40, 40)                                                   \
    X(BP_CUPTI_RUNTIME, bp_cupti_api, 40, 40, 40)                                                  \
    X(BP_CUPTI_CONCURRENT_KERNEL, bp_cupti_kernel, 200, 208, 216)                                  \
    X(BP_CUPTI_OVERHEAD, bp_cupti_overhead, 40, 56, 56)                                            \
    X(BP_CUPTI_MEMCPY2, bp_cupti_memcpy2, 96, 96, 96)                                              \
    X(BP_CUPTI_UNIFIED_MEMORY_COUNTER, bp_cupti_migration, 64, 64, 104)                            \
    X(BP_CUPTI_SYNCHRONIZATION, bp_cupti_sync, 40, 40, 56)                                         \
    X(BP_CUPTI_EXTERNAL_CORRELATION, bp_cupti_external, 24, 24, 24)                                \
    X(BP_CUPTI_MEMORY2, bp_cupti_memory, 120, 120, 128)

struct bp_cupti_memcpy {
    uint32_t kind;
    uint8_t copy, source, target, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, pad;
    uint64_t reserved, node;
    uint32_t graph, channel;
};

struct bp_cupti_memcpy2 {
    uint32_t kind;
    uint8_t copy, source, target, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, source_device, source_context, target_device, target_context;
    uint32_t correlation;
    uint64_t reserved, node;
    uint32_t graph;
};

struct bp_cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t pad;
    uint64_t reserved, node;
    uint32_t graph;
};

struct bp_cupti_kernel {
    uint32_t kind;
    uint8_t cache, shared_config;
    uint16_t registers;
    uint32_t global_cache[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    uint64_t reserved[4];
    uint64_t node;
    uint32_t not_filled, graph;
};

struct bp_cupti_api {
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

struct bp_cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
};

struct bp_cupti_external {
    uint32_t kind, external_kind;
    uint64_t external;
    uint32_t correlation, reserved;
};

struct bp_cupti_memory {
    uint32_t kind, operation, memory, correlation;
    uint64_t address, bytes, timestamp, pc;
    uint32_t process, device, context, stream;
    const char *name;
    uint32_t async;
};

struct bp_cupti_overhead {
    uint32_t kind, overhead, object_kind;
    uint32_t process, thread; /* of the object */
    uint32_t pad;
    uint64_t start, end;
    uint32_t correlation, reserved;
    void *data;
};

struct bp_cupti_migration {
    uint32_t kind, counter;
    uint64_t bytes, start, end, address;
    uint32_t source, target, stream, process, flags;
};

/* What counts as migration. */
enum bp_cupti_counter {
    BP_CUPTI_COUNTER_HTOD = 1,
    BP_CUPTI_COUNTER_DTOH = 2,
    BP_CUPTI_COUNTER_CPU_FAULT = 3,
    BP_CUPTI_COUNTER_DTOD = 8,
    BP_CUPTI_COUNTERS = 9
};

union bp_cupti_record {
    uint32_t kind;
    struct bp_cupti_memcpy memcpy;
    struct bp_cupti_memcpy2 memcpy2;
    struct bp_cupti_memset memset;
    struct bp_cupti_kernel kernel;
    struct bp_cupti_api api;
    struct bp_cupti_sync sync;
    struct bp_cupti_external external;
    struct bp_cupti_memory memory;
    struct bp_cupti_overhead overhead;
    struct bp_cupti_migration migration;
    char bytes[256];
};

/* 0 for a kind that is not written. */
size_t bp_cupti_size(uint32_t kind);

#endif
