/* SPDX-License-Identifier: MIT
 *
 * What the device work of a trace comes to, by calling context: the same sums that the collector
 * keeps inside a target, by the same arithmetic (cuda/attribute.h), from complete arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/import/trace.h"

struct attribution {
    struct bp_trace *trace;
    struct bp_keys processes; /* that are attributed */
    struct bp_keys calls;     /* (process, correlation) */
    uint32_t *call_frames;    /* by number in `calls`: index of the frame */
    uint32_t *asked;          /* by frame: the transfer that it asked for, and one more; 0: none */
    struct bp_keys transfers; /* the keys of bp_transfer, up to `flags` */
    struct bp_keys kernels;   /* (name, thread, node, device) */
    struct bp_keys splits;    /* (thread, node) */
    struct bp_keys waits;     /* (thread, node, launching thread, launching node) */
    struct bp_call_interval *intervals;
    struct bp_work_interval *works;
    uint32_t interval_count;
};

static bool is_cuda(const struct bp_trace *trace, const struct bp_trace_frame *frame) {
    return trace->funcs[frame->func].flags & BP_FUNC_CUDA;
}

/* bp_attribute takes the first of calls that begin and end together as the inner one, so the
 * intervals are backwards. Where calls share a correlation the outer one has the work. */
static void collect_calls(struct attribution *attribution) {
    struct bp_trace *trace = attribution->trace;
    for (uint32_t i = trace->frame_count; i-- > 0;) {
        const struct bp_trace_frame *frame = &trace->frames[i];
        if (is_cuda(trace, frame))
            attribution->intervals[attribution->interval_count++] = (struct bp_call_interval){
                frame->start, frame->end, frame->thread, frame->node, i, 0};
    }
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const struct bp_trace_frame *frame = &trace->frames[i];
        if (!is_cuda(trace, frame))
            continue;
        uint64_t key[2] = {(uint64_t)trace->threads[frame->thread].process, frame->correlation};
        uint32_t known = attribution->calls.count;
        if (frame->correlation && bp_keys_put(&attribution->calls, key, sizeof(key)) == known)
            attribution->call_frames[known] = i;
    }
}

static const struct bp_trace_frame *find_call(const struct attribution *attribution,
                                              const struct bp_trace_work *work) {
    uint64_t key[2] = {(uint64_t)(int32_t)work->process, work->correlation};
    uint32_t number = bp_keys_get(&attribution->calls, key, sizeof(key));
    if (work->correlation == 0 || number == BP_KEYS_NONE)
        return NULL;
    return &attribution->trace->frames[attribution->call_frames[number]];
}

static void widen(uint64_t time, uint64_t count, uint64_t *min, uint64_t *max) {
    if (count == 1 || time < *min)
        *min = time;
    if (time > *max)
        *max = time;
}

static void add_copy(struct bp_transfer *transfer, const struct bp_trace_work *work) {
    uint64_t time = work->end - work->start;
    transfer->device_time += time;
    if (work->second)
        return;
    transfer->count++;
    transfer->bytes += work->bytes;
    widen(time, transfer->count, &transfer->min, &transfer->max);
    transfer->sizes[bp_size_bucket(work->bytes)]++;
    if (work->bytes < BP_SMALL_COPY) {
        transfer->small_count++;
        transfer->small_bytes += work->bytes;
        transfer->small_time += time;
    }
}

static uint32_t add_transfer(struct attribution *attribution, const struct bp_trace_work *work,
                             const struct bp_trace_frame *call) {
    struct bp_trace_sums *sums = &attribution->trace->sums;
    bool async = call && strstr(attribution->trace->funcs[call->func].name, "Async");
    struct bp_transfer key = {
        .thread = call ? call->thread : BP_NO_THREAD,
        .node = call ? call->node : BP_NO_NODE,
        .device = work->device,
        .direction = work->direction,
        .source = work->source,
        .target = work->target,
        .flags = (uint8_t)(work->fault ? BP_TRANSFER_FAULT
                           : async     ? BP_TRANSFER_ASYNC
                                       : 0),
    };
    uint32_t number =
        bp_keys_put(&attribution->transfers, &key, offsetof(struct bp_transfer, count));
    if (number == sums->transfer_count)
        *BP_APPEND(sums->transfers, sums->transfer_count) = key;
    add_copy(&sums->transfers[number], work);
    return number;
}

static uint32_t add_kernel(struct attribution *attribution, const struct bp_trace_work *work,
                           const struct bp_trace_frame *call) {
    struct bp_trace_sums *sums = &attribution->trace->sums;
    struct bp_kernel key = {
        .name = work->name,
        .thread = call ? call->thread : BP_NO_THREAD,
        .node = call ? call->node : BP_NO_NODE,
        .device = work->device,
    };
    uint32_t number = bp_keys_put(&attribution->kernels, &key, offsetof(struct bp_kernel, count));
    if (number == sums->kernel_count)
        *BP_APPEND(sums->kernels, sums->kernel_count) = key;
    struct bp_kernel *kernel = &sums->kernels[number];
    uint64_t time = work->end - work->start;
    kernel->count++;
    kernel->device_time += time;
    widen(time, kernel->count, &kernel->min, &kernel->max);
    return number;
}

/* Where nested calls share a correlation the inner one has the time, the outer one the work. */
static void pass_to_inner(struct attribution *attribution) {
    const struct bp_trace *trace = attribution->trace;
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const struct bp_trace_frame *frame = &trace->frames[i];
        uint64_t key[2] = {(uint64_t)trace->threads[frame->thread].process, frame->correlation};
        uint32_t number = frame->correlation && is_cuda(trace, frame)
                              ? bp_keys_get(&attribution->calls, key, sizeof(key))
                              : BP_KEYS_NONE;
        if (number != BP_KEYS_NONE)
            attribution->asked[i] = attribution->asked[attribution->call_frames[number]];
    }
}

/* A graph has many works, and no copy is its call's alone. */
static bool is_copy_call(const struct bp_trace *trace, const struct bp_trace_frame *call) {
    return !strstr(trace->funcs[call->func].name, "Graph");
}

static void collect_works(struct attribution *attribution) {
    struct bp_trace *trace = attribution->trace;
    for (uint32_t i = 0; i < trace->work_count; i++) {
        const struct bp_trace_work *work = &trace->works[i];
        const struct bp_trace_frame *call = find_call(attribution, work);
        bool of_host = !work->kernel && work->direction <= BP_D2H;
        trace->sums.unmatched += !call;
        attribution->works[i] = (struct bp_work_interval){
            .start = work->start,
            .end = work->end,
            .thread = call ? call->thread : BP_NO_THREAD,
            .node = call ? call->node : BP_NO_NODE,
            .device = work->device < UINT16_MAX ? (uint16_t)work->device : UINT16_MAX,
            .kind = work->kernel ? BP_WORK_KERNEL
                    : of_host    ? BP_WORK_COPY
                                 : BP_WORK_OTHER,
            .owner = work->kernel ? add_kernel(attribution, work, call)
                                  : add_transfer(attribution, work, call),
        };
        if (call && !work->kernel && is_copy_call(trace, call))
            attribution->asked[call - trace->frames] = attribution->works[i].owner + 1;
    }
}

static struct bp_split *get_split(struct attribution *attribution, uint32_t thread, uint32_t node) {
    struct bp_trace_sums *sums = &attribution->trace->sums;
    uint32_t key[2] = {thread, node};
    uint32_t number = bp_keys_put(&attribution->splits, key, sizeof(key));
    if (number == sums->split_count) {
        struct bp_split *fresh = BP_APPEND(sums->splits, sums->split_count);
        fresh->thread = thread;
        fresh->node = node;
    }
    return &sums->splits[number];
}

static void add_wait(struct attribution *attribution, const struct bp_charge *charge) {
    struct bp_trace_sums *sums = &attribution->trace->sums;
    struct bp_kernel *kernel = &sums->kernels[charge->owner];
    uint32_t key[4] = {charge->thread, charge->node, kernel->thread, kernel->node};
    uint32_t number = bp_keys_put(&attribution->waits, key, sizeof(key));
    if (number == sums->wait_count)
        *BP_APPEND(sums->waits, sums->wait_count) =
            (struct bp_wait){key[0], key[1], key[2], key[3], 0, 0};
    sums->waits[number].time += charge->time;
    kernel->wait += charge->time;
}

static void charge_copy(struct attribution *attribution, const struct bp_charge *charge) {
    uint32_t asked = attribution->asked[charge->mark];
    if (!asked)
        return;
    struct bp_transfer *transfer = &attribution->trace->sums.transfers[asked - 1];
    transfer->call_time += charge->time;
    transfer->call_moving += charge->kind == BP_CHARGE_TRANSFER ? charge->time : 0;
    transfer->call_wait += charge->kind == BP_CHARGE_WAIT ? charge->time : 0;
}

static void take_charge(void *data, const struct bp_charge *charge) {
    struct attribution *attribution = data;
    struct bp_transfer *transfers = attribution->trace->sums.transfers;
    if (charge->kind == BP_CHARGE_HIDDEN) {
        transfers[charge->owner].hidden += charge->time;
        return;
    }
    charge_copy(attribution, charge);
    struct bp_split *split = get_split(attribution, charge->thread, charge->node);
    split->time += charge->time;
    if (charge->kind == BP_CHARGE_TRANSFER) {
        split->transfer += charge->time;
        transfers[charge->owner].exposed += charge->time;
    } else if (charge->kind == BP_CHARGE_WAIT) {
        split->wait += charge->time;
        add_wait(attribution, charge);
    }
}

static void ignore_charge(void *data, const struct bp_charge *charge) {
    (void)data;
    (void)charge;
}

/* Once for each. Calls wait for the work of their own process: another one's copies and kernels, on
 * its own device most likely, run beside them. */
static void attribute_process(struct attribution *attribution, int32_t process, void *memory) {
    struct bp_trace *trace = attribution->trace;
    uint32_t known = attribution->processes.count;
    if (bp_keys_put(&attribution->processes, &process, sizeof(process)) < known)
        return;
    struct bp_call_interval *calls = bp_alloc(attribution->interval_count, sizeof(*calls));
    struct bp_work_interval *works = bp_alloc(trace->work_count, sizeof(*works));
    uint32_t call_count = 0;
    uint32_t work_count = 0;
    for (uint32_t i = 0; i < attribution->interval_count; i++)
        if (trace->threads[attribution->intervals[i].thread].process == process)
            calls[call_count++] = attribution->intervals[i];
    for (uint32_t i = 0; i < trace->work_count; i++)
        if ((int32_t)trace->works[i].process == process)
            works[work_count++] = attribution->works[i];
    bp_attribute(calls, call_count, works, work_count, memory, NULL, take_charge, attribution);
    free(calls);
    free(works);
}

static void attribute_all(struct attribution *attribution) {
    struct bp_trace *trace = attribution->trace;
    void *memory = bp_alloc(bp_window_size(attribution->interval_count, trace->work_count), 1);
    for (uint32_t i = 0; i < trace->thread_count; i++)
        attribute_process(attribution, trace->threads[i].process, memory);
    if (attribution->processes.count > 1)
        bp_trace_miss_count(trace, attribution->processes.count, "processes in it, shown as one");
    for (uint32_t i = 0; i < trace->work_count; i++)
        attribute_process(attribution, (int32_t)trace->works[i].process, memory);
    bp_attribute(NULL, 0, attribution->works, trace->work_count, memory, trace->sums.busy,
                 ignore_charge, NULL);
    free(memory);
}

void bp_trace_attribute(struct bp_trace *trace) {
    struct attribution attribution = {.trace = trace};
    attribution.call_frames = bp_alloc(trace->frame_count, sizeof(uint32_t));
    attribution.asked = bp_alloc(trace->frame_count, sizeof(uint32_t));
    attribution.intervals = bp_alloc(trace->frame_count, sizeof(*attribution.intervals));
    attribution.works = bp_alloc(trace->work_count, sizeof(*attribution.works));
    collect_calls(&attribution);
    collect_works(&attribution);
    pass_to_inner(&attribution);
    attribute_all(&attribution);
    for (uint32_t i = 0; i < attribution.interval_count; i++)
        get_split(&attribution, attribution.intervals[i].thread, attribution.intervals[i].node)
            ->calls++;
    free(attribution.call_frames);
    free(attribution.asked);
    free(attribution.intervals);
    free(attribution.works);
    bp_keys_fini(&attribution.processes);
    bp_keys_fini(&attribution.calls);
    bp_keys_fini(&attribution.transfers);
    bp_keys_fini(&attribution.kernels);
    bp_keys_fini(&attribution.splits);
    bp_keys_fini(&attribution.waits);
}
