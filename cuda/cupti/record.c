/* SPDX-License-Identifier: MIT
 *
 * CUPTI's records as they come back in buffers, on a thread of CUPTI's or on ours. What a record
 * is about is found through two numbers: CUPTI's correlation id, which it shares with the API call,
 * and our external id, which names the calling context and the slot of the call.
 *
 * CUPTI's times are CLOCK_REALTIME; they become ticks by a pair of both clocks taken when the
 * buffer arrives, so that a step of the system's time spoils one buffer at most.
 */
#include "cuda/cupti/record.h"

#include "cuda/api.h"
#include "cuda/asked.h"
#include "cuda/attribute.h"
#include "cuda/content.h"
#include "cuda/cupti/abi.h"
#include "cuda/cupti/buffer.h"
#include "cuda/cupti/cupti.h"
#include "cuda/cupti/external.h"
#include "cuda/cupti/overhead.h"
#include "cuda/flush.h"
#include "cuda/internal.h"
#include "cuda/managed.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/table.h"
#include "cuda/window.h"
#include "profile/clock.h"

#define CORRELATIONS 65536 /* ids are handed out in order: the table is a ring */
#define PARKED 4096        /* records that came before the one that says whose they are */
#define ROUNDS 3           /* buffers for which they wait at least, */
#define WAIT_PART 50u      /* and this part of a second: a stuck window is flushed all the time */

struct correlation {
    uint64_t external;
    uint32_t id;
    uint32_t unused;
};

struct parked {
    struct bp_work_record work;
    const char *name;
    uint32_t correlation;
    uint16_t kind; /* enum bp_work_kind */
    uint16_t rounds;
    uint64_t since;   /* ticks */
    uint32_t untimed; /* no more is known than that it was */
    uint32_t unused;
};

static struct {
    struct correlation *correlations;
    struct parked *parked;
    uint32_t parked_count;
    struct bp_clock_pair now; /* of the present buffer */
    double ticks_per_ns;
} state;

int bp_record_init(void) {
    if (state.correlations)
        return 0;
    state.parked = bp_pages_new(PARKED * sizeof *state.parked);
    state.correlations = bp_pages_new(CORRELATIONS * sizeof *state.correlations);
    return state.parked && state.correlations ? 0 : -1;
}

/* Several readings: the one that an interrupt disturbed least. */
static void pair_clocks(void) {
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = bp_clock_now(bp_process.clock);
        uint64_t ns = bp_clock_ns(CLOCK_REALTIME);
        uint64_t after = bp_clock_now(bp_process.clock);
        if (after - before < shortest) {
            shortest = after - before;
            state.now.ticks = before + (after - before) / 2;
            state.now.realtime_ns = ns;
        }
    }
    const struct bp_clock_pair *first = &bp_process.writer.header->first;
    uint64_t ns = bp_clock_ns(CLOCK_MONOTONIC) - first->monotonic_ns;
    state.ticks_per_ns = 1;
    if (bp_process.clock == BP_CLOCK_TSC && ns)
        state.ticks_per_ns = (double)(bp_clock_now(bp_process.clock) - first->ticks) / (double)ns;
}

static uint64_t ticks_of(uint64_t ns) {
    double ago = (double)(int64_t)(state.now.realtime_ns - ns) * state.ticks_per_ns;
    return state.now.ticks - (uint64_t)(int64_t)ago;
}

static uint8_t memory_of(uint8_t kind) {
    static const uint8_t kinds[] = {BP_MEMORY_UNKNOWN, BP_MEMORY_PAGEABLE, BP_MEMORY_PINNED,
                                    BP_MEMORY_DEVICE,  BP_MEMORY_ARRAY,    BP_MEMORY_MANAGED,
                                    BP_MEMORY_DEVICE,  BP_MEMORY_MANAGED};
    return kind < sizeof kinds ? kinds[kind] : BP_MEMORY_UNKNOWN;
}

static int on_device(uint8_t memory) {
    return memory == BP_MEMORY_DEVICE || memory == BP_MEMORY_ARRAY;
}

/* Without peer access a copy between devices is two records, down and up, of device memory. */
static uint32_t half_of(uint8_t kind, uint8_t source, uint8_t target) {
    if (!on_device(source) || !on_device(target))
        return 0;
    return kind == BP_CUPTI_DTOH || kind == BP_CUPTI_ATOH   ? 1
           : kind == BP_CUPTI_HTOD || kind == BP_CUPTI_HTOA ? 2
                                                            : 0;
}

static int direction_of(uint8_t kind, uint8_t source, uint8_t target) {
    int up = kind == BP_CUPTI_HTOD || kind == BP_CUPTI_HTOA;
    int down = kind == BP_CUPTI_DTOH || kind == BP_CUPTI_ATOH;
    if (kind == BP_CUPTI_PTOP || half_of(kind, source, target))
        return BP_P2P;
    if (kind == BP_CUPTI_HTOH || kind == 0 || kind > BP_CUPTI_PTOP)
        return -1;
    return up ? BP_H2D : down ? BP_D2H : BP_D2D;
}

static void submit(const struct parked *parked, uint32_t owner) {
    const struct bp_work_record *work = &parked->work;
    struct bp_work_interval interval = {.start = work->start,
                                        .end = work->end,
                                        .thread = work->thread,
                                        .node = work->node,
                                        .owner = owner,
                                        .device = (uint16_t)work->device,
                                        .kind = parked->kind};
    bp_cuda_window_work(&interval);
}

static void note_slot(struct bp_slot *slot, const struct parked *parked, uint32_t owner) {
    if (parked->kind != BP_WORK_KERNEL && owner != BP_CUDA_NONE && slot->class != BP_CUDA_GRAPH) {
        slot->transfer = owner + 1;
        slot->bytes = parked->work.bytes;
        slot->time = parked->work.end - parked->work.start;
        bp_content_apply(slot);
    }
    bp_slot_done(slot, parked->work.end);
}

/* 1 if the calling context is known; `parked` has it then. */
static int find_context(struct parked *parked, struct bp_slot **slot) {
    const struct correlation *found = &state.correlations[parked->correlation % CORRELATIONS];
    *slot = NULL;
    if (found->id != parked->correlation || !found->external)
        return 0;
    struct bp_external external = bp_external_unpack(found->external);
    parked->work.thread = external.thread;
    parked->work.node = external.node;
    *slot = bp_slot_get(external.slot);
    return 1;
}

static void account(struct parked *parked, struct bp_slot *slot) {
    uint32_t owner = BP_CUDA_NONE;
    if (parked->untimed) {
        bp_sums.collector->dropped++;
        if (slot)
            bp_slot_done(slot, 0);
        return;
    }
    if (parked->kind == BP_WORK_KERNEL)
        owner = bp_sums_kernel(&parked->work, parked->name);
    else if (parked->work.half == 2)
        owner = bp_sums_second(&parked->work, slot ? slot->transfer - 1 : BP_CUDA_NONE);
    else
        owner = bp_sums_transfer(&parked->work);
    /* At once: until it is met, a copy would count twice if the process were killed. */
    if (parked->kind != BP_WORK_KERNEL && parked->work.thread != BP_NO_THREAD)
        bp_asked_meet(slot, &parked->work);
    submit(parked, owner);
    if (slot)
        note_slot(slot, parked, owner);
}

/* Whether its call may still be told of: `age` is 1 after each buffer. As long as there is an older
 * call that CUPTI has not spoken of, it may be that one's, and since nothing after it is attributed
 * yet, nothing is lost by waiting. */
static int may_wait(struct parked *parked, uint16_t age, uint64_t unknown) {
    parked->rounds += parked->rounds < UINT16_MAX ? age : 0;
    return parked->rounds <= ROUNDS || parked->work.start >= unknown ||
           state.now.ticks - parked->since < bp_cuda.ticks_per_s / WAIT_PART;
}

/* What has found its call, and what will not find it any more. True if there is room. */
static int retry_parked(uint16_t age) {
    uint32_t kept = 0;
    uint64_t unknown = state.parked_count ? bp_slot_unknown() : 0;
    for (uint32_t i = 0; i < state.parked_count; i++) {
        struct parked *parked = &state.parked[i];
        struct bp_slot *slot;
        int known = find_context(parked, &slot);
        if (!known && may_wait(parked, age, unknown)) {
            state.parked[kept++] = *parked;
            continue;
        }
        bp_sums.collector->unmatched += !known;
        account(parked, slot);
    }
    state.parked_count = kept;
    return kept < PARKED;
}

void bp_record_finish(void) {
    for (uint32_t i = 0; i < state.parked_count; i++) {
        struct bp_slot *slot;
        bp_sums.collector->unmatched += !find_context(&state.parked[i], &slot);
        account(&state.parked[i], slot);
    }
    state.parked_count = 0;
}

/* Whether anything is known of when it was. What was not over has no end; with neither beginning
 * nor end CUPTI could not tell, and will not, unless it was made to tell what it has. */
static int take_times(struct parked *parked) {
    struct bp_work_record *work = &parked->work;
    parked->untimed = !work->start && !work->end && !bp_flush_is_forced();
    if (work->end <= work->start && !parked->untimed)
        return 0;
    work->start = parked->untimed ? state.now.ticks : ticks_of(work->start);
    work->end = parked->untimed ? state.now.ticks : ticks_of(work->end);
    return 1;
}

static void take_work(struct parked *parked) {
    struct bp_slot *slot;
    if (!take_times(parked))
        return;
    parked->work.thread = BP_NO_THREAD;
    parked->work.node = BP_NO_NODE;
    if (!parked->correlation || find_context(parked, &slot)) {
        account(parked, parked->correlation ? slot : NULL);
    } else if (state.parked_count < PARKED || retry_parked(0)) {
        parked->rounds = 0;
        parked->since = state.now.ticks;
        state.parked[state.parked_count++] = *parked;
    } else {
        bp_sums.collector->unmatched++;
        account(parked, NULL);
    }
}

static void take_copy(const void *record, uint32_t correlation, int peer) {
    uint8_t source = memory_of(bp_cupti_MEMCPY_srcKind(record));
    uint8_t target = memory_of(bp_cupti_MEMCPY_dstKind(record));
    int direction = peer ? BP_P2P : direction_of(bp_cupti_MEMCPY_copyKind(record), source, target);
    struct parked copy = {.work = {.start = bp_cupti_MEMCPY_start(record),
                                   .end = bp_cupti_MEMCPY_end(record),
                                   .bytes = bp_cupti_MEMCPY_bytes(record),
                                   .device = bp_cupti_MEMCPY_deviceId(record),
                                   .direction = (uint8_t)direction,
                                   .source = source,
                                   .target = target,
                                   .flags = bp_cupti_MEMCPY_flags(record) & BP_CUPTI_FLAG_ASYNC
                                                ? BP_TRANSFER_ASYNC
                                                : 0},
                          .correlation = correlation};
    if (!peer)
        copy.work.half = half_of(bp_cupti_MEMCPY_copyKind(record), source, target);
    copy.kind = direction == BP_H2D || direction == BP_D2H ? BP_WORK_COPY : BP_WORK_OTHER;
    struct bp_slot *slot;
    if (direction >= 0)
        take_work(&copy);
    else if (find_context(&copy, &slot) && slot) {
        bp_asked_meet(slot, &copy.work);
        bp_slot_done(slot, 0); /* within the host: no device was at work */
    }
}

static void take_memset(const void *record) {
    struct parked set = {.work = {.start = bp_cupti_MEMSET_start(record),
                                  .end = bp_cupti_MEMSET_end(record),
                                  .bytes = bp_cupti_MEMSET_bytes(record),
                                  .device = bp_cupti_MEMSET_deviceId(record),
                                  .direction = BP_MEMSET,
                                  .target = memory_of((uint8_t)bp_cupti_MEMSET_memoryKind(record)),
                                  .flags = bp_cupti_MEMSET_flags(record) & BP_CUPTI_FLAG_ASYNC
                                               ? BP_TRANSFER_ASYNC
                                               : 0},
                         .correlation = bp_cupti_MEMSET_correlationId(record),
                         .kind = BP_WORK_OTHER};
    take_work(&set);
}

static void take_kernel(const void *record) {
    struct parked kernel = {.work = {.start = bp_cupti_KERNEL_start(record),
                                     .end = bp_cupti_KERNEL_end(record),
                                     .device = bp_cupti_KERNEL_deviceId(record)},
                            .name = bp_cupti_KERNEL_name(record),
                            .correlation = bp_cupti_KERNEL_correlationId(record),
                            .kind = BP_WORK_KERNEL};
    take_work(&kernel);
}

/* What comes down because it was touched was touched by the host, which waits for the page and for
 * its neighbours. Pages that make room for others (eviction) it does not wait for. */
static uint8_t migration_flags(int down, uint32_t cause) {
    int touched = cause == BP_CUPTI_UVM_CAUSE_COHERENCE || cause == BP_CUPTI_UVM_CAUSE_PREFETCH;
    return (uint8_t)(down && touched ? BP_TRANSFER_FAULT : BP_TRANSFER_ASYNC);
}

/* Pages of managed memory that moved: because of a call, or because somebody touched them. */
static void take_migration(const void *record) {
    uint32_t kind = bp_cupti_UVM_counterKind(record);
    int up = kind == BP_CUPTI_UVM_HTOD, down = kind == BP_CUPTI_UVM_DTOH;
    struct parked copy = {
        .work = {.start = ticks_of(bp_cupti_UVM_start(record)),
                 .end = ticks_of(bp_cupti_UVM_end(record)),
                 .bytes = bp_cupti_UVM_value(record),
                 .thread = BP_NO_THREAD,
                 .node = BP_NO_NODE,
                 .device = down ? bp_cupti_UVM_srcId(record) : bp_cupti_UVM_dstId(record),
                 .direction = up     ? BP_H2D
                              : down ? BP_D2H
                                     : BP_P2P,
                 .source = BP_MEMORY_MANAGED,
                 .target = BP_MEMORY_MANAGED,
                 .flags = migration_flags(down, bp_cupti_UVM_flags(record))},
        .kind = up || down ? BP_WORK_COPY : BP_WORK_OTHER};
    if ((!up && !down && kind != BP_CUPTI_UVM_DTOD) || copy.work.end <= copy.work.start)
        return;
    if (bp_cupti_UVM_flags(record) == BP_CUPTI_UVM_CAUSE_USER)
        bp_managed_find(bp_cupti_UVM_address(record), &copy.work);
    account(&copy, NULL);
}

static void take_external(const void *record) {
    if (bp_cupti_EXTERNAL_externalKind(record) != BP_CUPTI_CORRELATION_CUSTOM2)
        return;
    uint32_t id = bp_cupti_EXTERNAL_correlationId(record);
    uint64_t external = bp_cupti_EXTERNAL_externalId(record);
    state.correlations[id % CORRELATIONS] = (struct correlation){external, id, 0};
    struct bp_slot *slot = bp_slot_get(bp_external_unpack(external).slot);
    if (slot && slot->state == BP_SLOT_OPEN)
        slot->state = BP_SLOT_SEEN;
}

static void take(const void *record, struct bp_garbage *garbage) {
    switch (*(const uint32_t *)record) {
    case BP_CUPTI_MEMCPY:
        take_copy(record, bp_cupti_MEMCPY_correlationId(record), 0);
        break;
    case BP_CUPTI_MEMCPY2:
        take_copy(record, bp_cupti_MEMCPY2_correlationId(record), 1);
        break;
    case BP_CUPTI_MEMSET:
        take_memset(record);
        break;
    case BP_CUPTI_CONCURRENT_KERNEL:
        take_kernel(record);
        break;
    case BP_CUPTI_UNIFIED_MEMORY_COUNTER:
        take_migration(record);
        break;
    case BP_CUPTI_EXTERNAL_CORRELATION:
        take_external(record);
        break;
    case BP_CUPTI_OVERHEAD:
        bp_overhead_take(record, garbage);
        break;
    default: /* calls and waits are known from the stubs */
        break;
    }
}

static void note_dropped(void *context, uint32_t stream) {
    size_t dropped = 0;
    if (bp_cupti.ActivityGetNumDroppedRecords &&
        bp_cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == BP_CUPTI_SUCCESS)
        bp_sums.collector->dropped += dropped;
}

void bp_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid) {
    void *record = NULL;
    struct bp_garbage garbage = {.count = 0};
    if (!__atomic_load_n(&bp_cuda.active, __ATOMIC_ACQUIRE) || bp_cuda.pid != bp_process.pid)
        return;
    uint64_t mask = bp_lock(&bp_cuda.lock);
    uint64_t begin = bp_clock_now(bp_process.clock);
    pair_clocks();
    while (valid && bp_cupti.ActivityGetNextRecord(buffer, valid, &record) == BP_CUPTI_SUCCESS) {
        take(record, &garbage);
        bp_sums.collector->records++;
    }
    retry_parked(1);
    bp_sums.collector->own_time += bp_clock_now(bp_process.clock) - begin;
    bp_unlock(&bp_cuda.lock, mask);
    bp_overhead_free(&garbage);
    bp_flush_brought();
    note_dropped(context, stream);
    bp_buffer_give(buffer, size);
}
