/* SPDX-License-Identifier: MIT
 *
 * Migrations of managed memory. CUPTI reports them only when asked after the driver has started,
 * per device or for all at once, and not on every machine. Their records carry no correlation id:
 * whose they are is found by the address, among the last calls that asked for a migration.
 */
#include "cuda/managed.h"

#include <stdio.h>

#include "cuda/cupti/abi.h"
#include "cuda/cupti/cupti.h"
#include "cuda/device.h"
#include "cuda/internal.h"
#include "cuda/sums.h"

#define PREFETCHES 256            /* calls that are remembered */
#define PAGE (UINT64_C(64) << 10) /* no page that moves is larger at its beginning */

struct prefetch {
    uint64_t begin, end; /* addresses */
    uint64_t time;       /* of the call */
    uint32_t thread, node;
    uint64_t sequence; /* when all of the above is there: its number, from 1 */
};

static struct {
    uint32_t starting;
    uint32_t on;
    uint64_t next; /* number of the last prefetch */
    struct prefetch prefetches[PREFETCHES];
} state;

static int configure(uint32_t scope, uint32_t device) {
    struct bp_cupti_uvm_config configs[] = {{scope, BP_CUPTI_UVM_HTOD, device, 1},
                                            {scope, BP_CUPTI_UVM_DTOH, device, 1},
                                            {scope, BP_CUPTI_UVM_DTOD, device, 1}};
    return bp_cupti.ActivityConfigureUnifiedMemoryCounter(configs, 3);
}

/* All devices at once, else as many as agree. */
static int configure_devices(void) {
    int error = configure(2, 0);
    if (error == BP_CUPTI_SUCCESS || error == BP_CUPTI_NOT_INITIALIZED)
        return error;
    for (int i = 0, count = bp_device_count(); i < count; i++)
        if (configure(1, (uint32_t)i) == BP_CUPTI_SUCCESS)
            error = BP_CUPTI_SUCCESS;
    return error;
}

void bp_managed_start(int wanted) {
    char text[96];
    if (!bp_cupti.ActivityConfigureUnifiedMemoryCounter ||
        __atomic_load_n(&state.on, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(&state.starting, 1, __ATOMIC_ACQ_REL))
        return;
    int error = configure_devices();
    if (error == BP_CUPTI_SUCCESS)
        error = bp_cupti.ActivityEnable(BP_CUPTI_UNIFIED_MEMORY_COUNTER);
    __atomic_store_n(&state.on, error == BP_CUPTI_SUCCESS, __ATOMIC_RELEASE);
    if (error != BP_CUPTI_SUCCESS && wanted) {
        snprintf(text, sizeof text, "CUPTI does not report migrations of managed memory (error %d)",
                 error);
        bp_cuda_reason(BP_COLLECTOR_ACTIVE, 0, text);
    } else {
        __atomic_store_n(&state.starting, 0, __ATOMIC_RELEASE);
    }
}

int bp_managed_is_on(void) {
    return (int)__atomic_load_n(&state.on, __ATOMIC_ACQUIRE);
}

void bp_managed_prefetch(uint64_t address, uint64_t bytes, const struct bp_work_record *by) {
    uint64_t sequence = __atomic_add_fetch(&state.next, 1, __ATOMIC_RELAXED);
    struct prefetch *to = &state.prefetches[sequence % PREFETCHES];
    __atomic_store_n(&to->sequence, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    to->begin = address & ~(PAGE - 1);
    to->end = address + bytes;
    to->time = by->start;
    to->thread = by->thread;
    to->node = by->node;
    __atomic_store_n(&to->sequence, sequence, __ATOMIC_RELEASE);
}

/* 1 if the entry was not written meanwhile. */
static int read_entry(uint64_t sequence, struct prefetch *copy) {
    const struct prefetch *from = &state.prefetches[sequence % PREFETCHES];
    if (__atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE) != sequence)
        return 0;
    *copy = *from;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&from->sequence, __ATOMIC_RELAXED) == sequence;
}

void bp_managed_find(uint64_t address, struct bp_work_record *work) {
    uint64_t last = __atomic_load_n(&state.next, __ATOMIC_ACQUIRE);
    struct prefetch found;
    for (uint64_t i = last; i > 0 && i + PREFETCHES > last; i--)
        if (read_entry(i, &found) && found.begin <= address && address < found.end &&
            found.time <= work->start) {
            work->thread = found.thread;
            work->node = found.node;
            return;
        }
}
