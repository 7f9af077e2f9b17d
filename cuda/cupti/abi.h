/* SPDX-License-Identifier: MIT
 *
 * As much of CUPTI's binary interface as the collector needs, so that no CUPTI header is needed to
 * build and one binary serves CUDA 11.0 to 13.x: in all of these, records have only grown at their
 * end. tests/cuda compares every number here with real headers where they are installed.
 */
#ifndef BP_CUDA_CUPTI_ABI_H
#define BP_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum bp_cupti_result {
    BP_CUPTI_SUCCESS = 0,
    BP_CUPTI_MAX_LIMIT_REACHED = 12,
    BP_CUPTI_NOT_INITIALIZED = 15,
    BP_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    BP_CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
    BP_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
    BP_CUPTI_UNKNOWN = 999
};

enum bp_cupti_kind {
    BP_CUPTI_MEMCPY = 1,
    BP_CUPTI_MEMSET = 2,
    BP_CUPTI_DRIVER = 4,
    BP_CUPTI_RUNTIME = 5,
    BP_CUPTI_CONCURRENT_KERNEL = 10, /* never KERNEL, 3: it serialises */
    BP_CUPTI_OVERHEAD = 17,
    BP_CUPTI_MEMCPY2 = 22,
    BP_CUPTI_UNIFIED_MEMORY_COUNTER = 25,
    BP_CUPTI_SYNCHRONIZATION = 38,
    BP_CUPTI_EXTERNAL_CORRELATION = 39,
    BP_CUPTI_MEMORY2 = 49
};

/* Kineto has CUSTOM0 and CUSTOM1. */
#define BP_CUPTI_CORRELATION_CUSTOM2 5u

enum bp_cupti_copy_kind {
    BP_CUPTI_HTOD = 1,
    BP_CUPTI_DTOH = 2,
    BP_CUPTI_HTOA = 3,
    BP_CUPTI_ATOH = 4,
    BP_CUPTI_ATOA = 5,
    BP_CUPTI_ATOD = 6,
    BP_CUPTI_DTOA = 7,
    BP_CUPTI_DTOD = 8,
    BP_CUPTI_HTOH = 9,
    BP_CUPTI_PTOP = 10
};

/* Memory kinds are those of enum bp_memory, from 1 to 5. */
#define BP_CUPTI_MEMORY_MANAGED 5u
#define BP_CUPTI_FLAG_ASYNC 1u

enum bp_cupti_overhead_kind {
    BP_CUPTI_OVERHEAD_DRIVER_COMPILER = 1,
    BP_CUPTI_OVERHEAD_CUPTI_BUFFER_FLUSH = 1 << 16,
    BP_CUPTI_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING = 4 << 16, /* since 12.1 */
    BP_CUPTI_OVERHEAD_LAZY_FUNCTION_LOADING = 5 << 16,
    BP_CUPTI_OVERHEAD_COMMAND_BUFFER_FULL = 6 << 16
};

enum bp_cupti_uvm_kind { BP_CUPTI_UVM_HTOD = 1, BP_CUPTI_UVM_DTOH = 2, BP_CUPTI_UVM_DTOD = 8 };
#define BP_CUPTI_UVM_CAUSE_USER 1u      /* the program asked for it */
#define BP_CUPTI_UVM_CAUSE_COHERENCE 2u /* somebody touched the page */
#define BP_CUPTI_UVM_CAUSE_PREFETCH 3u  /* and the driver brings its neighbours, too */

/* Offsets in bytes. X(record, field, offset, C type) */
#define BP_CUPTI_FIELDS(X)                                                                         \
    X(MEMCPY, copyKind, 4, uint8_t)                                                                \
    X(MEMCPY, srcKind, 5, uint8_t)                                                                 \
    X(MEMCPY, dstKind, 6, uint8_t)                                                                 \
    X(MEMCPY, flags, 7, uint8_t)                                                                   \
    X(MEMCPY, bytes, 8, uint64_t)                                                                  \
    X(MEMCPY, start, 16, uint64_t)                                                                 \
    X(MEMCPY, end, 24, uint64_t)                                                                   \
    X(MEMCPY, deviceId, 32, uint32_t)                                                              \
    X(MEMCPY, correlationId, 44, uint32_t)                                                         \
    X(MEMCPY2, correlationId, 60, uint32_t)                                                        \
    X(MEMSET, bytes, 8, uint64_t)                                                                  \
    X(MEMSET, start, 16, uint64_t)                                                                 \
    X(MEMSET, end, 24, uint64_t)                                                                   \
    X(MEMSET, deviceId, 32, uint32_t)                                                              \
    X(MEMSET, correlationId, 44, uint32_t)                                                         \
    X(MEMSET, flags, 48, uint16_t)                                                                 \
    X(MEMSET, memoryKind, 50, uint16_t)                                                            \
    X(KERNEL, start, 16, uint64_t)                                                                 \
    X(KERNEL, end, 24, uint64_t)                                                                   \
    X(KERNEL, deviceId, 40, uint32_t)                                                              \
    X(KERNEL, correlationId, 92, uint32_t)                                                         \
    X(KERNEL, name, 104, const char *)                                                             \
    X(API, start, 8, uint64_t)                                                                     \
    X(API, end, 16, uint64_t)                                                                      \
    X(API, correlationId, 32, uint32_t)                                                            \
    X(API, returnValue, 36, uint32_t)                                                              \
    X(EXTERNAL, externalKind, 4, uint32_t)                                                         \
    X(EXTERNAL, externalId, 8, uint64_t)                                                           \
    X(EXTERNAL, correlationId, 16, uint32_t)                                                       \
    X(OVERHEAD, overheadKind, 4, uint32_t)                                                         \
    X(OVERHEAD, start, 24, uint64_t)                                                               \
    X(OVERHEAD, end, 32, uint64_t)                                                                 \
    X(OVERHEAD3, overheadData, 48, void *)                                                         \
    X(UVM, counterKind, 4, uint32_t)                                                               \
    X(UVM, value, 8, uint64_t)                                                                     \
    X(UVM, start, 16, uint64_t)                                                                    \
    X(UVM, end, 24, uint64_t)                                                                      \
    X(UVM, address, 32, uint64_t)                                                                  \
    X(UVM, srcId, 40, uint32_t)                                                                    \
    X(UVM, dstId, 44, uint32_t)                                                                    \
    X(UVM, flags, 56, uint32_t)

#define BP_CUPTI_OFFSET(record, field, offset, type) BP_CUPTI_AT_##record##_##field = offset,
enum { BP_CUPTI_FIELDS(BP_CUPTI_OFFSET) };

/* bp_cupti_MEMCPY_bytes(record) and so on. Records are aligned to 8 bytes only as wholes. */
#define BP_CUPTI_GETTER(record, field, offset, type)                                               \
    static inline type bp_cupti_##record##_##field(const void *at) {                               \
        type value;                                                                                \
        __builtin_memcpy(&value, (const char *)at + (offset), sizeof value);                       \
        return value;                                                                              \
    }
BP_CUPTI_FIELDS(BP_CUPTI_GETTER)

struct bp_cupti_uvm_config {
    uint32_t scope; /* 1: the process, on one device; 2: on all */
    uint32_t kind;
    uint32_t device;
    uint32_t enable;
};

typedef void bp_cupti_requested(uint8_t **buffer, size_t *size, size_t *records);
typedef void bp_cupti_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                size_t valid);

/* X(function, its arguments, whether nothing works without it) */
#define BP_CUPTI_FUNCTIONS(X)                                                                      \
    X(ActivityRegisterCallbacks, (bp_cupti_requested *, bp_cupti_completed *), 1)                  \
    X(ActivityEnable, (uint32_t kind), 1)                                                          \
    X(ActivityDisable, (uint32_t kind), 0)                                                         \
    X(ActivityFlushAll, (uint32_t flag), 1)                                                        \
    X(ActivityFlushPeriod, (uint32_t ms), 0)                                                       \
    X(ActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record), 1)                   \
    X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped), 0)          \
    X(ActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id), 1)                          \
    X(ActivityPopExternalCorrelationId, (uint32_t kind, uint64_t * last), 1)                       \
    X(ActivityConfigureUnifiedMemoryCounter, (struct bp_cupti_uvm_config *, uint32_t count), 0)    \
    X(GetVersion, (uint32_t * version), 0)

#endif
