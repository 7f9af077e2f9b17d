/* SPDX-License-Identifier: MIT
 *
 * From the device records of the processes to those of the run, and how a CUDA call's own time
 * divides: transfer is a category, waiting for a kernel belongs to the category that launched it,
 * the rest is what CUDA itself took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/internal.h"
#include "tools/symbols/symbols.h"

const char *const bp_direction_names[] = {"h2d", "d2h", "d2d", "p2p", "memset", "unknown"};

/* A context of a process, resolved. */
struct place {
    const struct bp_profile_thread *thread; /* NULL: unknown */
    uint32_t node;
};

struct devices {
    struct bp_model *model;
    const struct bp_model_process *process;
    const uint32_t *map; /* functions of the process to those of the model */
};

static struct place find_place(const struct bp_profile *profile, uint32_t slot, uint32_t node) {
    for (uint32_t i = 0; slot != BP_NO_THREAD && i < profile->thread_count; i++)
        if (profile->threads[i].slot == slot)
            return (struct place){&profile->threads[i], node};
    return (struct place){NULL, 0};
}

static const struct bp_func *func_of(const struct bp_profile *profile, struct place place) {
    return &profile->funcs[place.thread->nodes[place.node].func];
}

/* DSL if any caller is: a kernel launched by a library that the DSL uses is work of the DSL. */
static enum bp_category launch_category(const struct devices *devices, struct place place) {
    while (place.thread) {
        uint32_t func = place.thread->nodes[place.node].func;
        if (devices->model->functions[devices->map[func]].category == BP_DSL)
            return BP_DSL;
        if (place.node == 0)
            break;
        place.node = place.thread->nodes[place.node].parent;
    }
    return BP_FRAMEWORK;
}

/* The innermost function around a CUDA call that is none itself. */
static uint32_t caller_of(const struct devices *devices, struct place place) {
    const struct bp_profile *profile = devices->process->profile;
    if (!place.thread)
        return BP_NO_FUNCTION;
    while (place.node != 0 && func_of(profile, place)->flags & BP_FUNC_CUDA)
        place.node = place.thread->nodes[place.node].parent;
    return devices->map[place.thread->nodes[place.node].func];
}

static bool has_launches(const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->thread_count; i++)
        for (uint32_t k = 1; k < profile->threads[i].node_count; k++) {
            const struct bp_func *func = &profile->funcs[profile->threads[i].nodes[k].func];
            if (func->flags & BP_FUNC_CUDA &&
                strstr(bp_profile_string(profile, func->name), "Launch"))
                return true;
        }
    return false;
}

static bool lacks_kernels(const struct bp_profile *profile) {
    return profile->collector && profile->collector->mode == BP_CUDA_TRANSFERS;
}

/* Without kernel records waiting is what no copy explains; where nothing was launched it is what
 * CUDA took. */
static bool waits_for_nothing(const struct bp_profile *profile) {
    return lacks_kernels(profile) && !has_launches(profile);
}

static bool has_unseen_kernels(const struct bp_profile *profile) {
    return lacks_kernels(profile) && has_launches(profile);
}

struct bp_node_split *bp_model_node_splits(struct bp_model *model,
                                           const struct bp_model_process *process,
                                           const struct bp_profile_thread *thread,
                                           const uint32_t *map) {
    const struct bp_profile *profile = process->profile;
    struct devices devices = {model, process, map};
    struct bp_node_split *list = NULL;
    double wait_tick_s = waits_for_nothing(profile) ? 0 : process->tick_s;
    for (uint32_t i = 0; i < profile->split_count; i++) {
        const struct bp_split *split = &profile->splits[i];
        if (split->thread != thread->slot)
            continue;
        if (!list)
            list = bp_alloc(thread->node_count, sizeof(*list));
        list[split->node].transfer_s += (double)split->transfer * process->tick_s;
        list[split->node].wait_s[BP_FRAMEWORK] += (double)split->wait * wait_tick_s;
    }
    for (uint32_t i = 0; list && i < profile->wait_count; i++) {
        const struct bp_wait *wait = &profile->waits[i];
        if (wait->thread != thread->slot)
            continue;
        struct place launch = find_place(profile, wait->launch_thread, wait->launch_node);
        if (launch_category(&devices, launch) != BP_DSL)
            continue;
        struct bp_node_split *split = &list[wait->node];
        double s = (double)wait->time * process->tick_s;
        if (s > split->wait_s[BP_FRAMEWORK] - process->tick_s / 2) /* what is left is rounding */
            s = split->wait_s[BP_FRAMEWORK];
        split->wait_s[BP_FRAMEWORK] -= s;
        split->wait_s[BP_DSL] += s;
    }
    return list;
}

/* Never more than there is: overhead was taken out of the node, and a file may say anything. */
struct bp_node_split bp_model_divide(const struct bp_thread_work *work, uint32_t node,
                                     double time) {
    struct bp_node_split parts = {0};
    if (!work->split || !(work->self_s[node] > 0))
        return parts;
    const struct bp_node_split *split = &work->split[node];
    double sum = split->transfer_s + split->wait_s[BP_DSL] + split->wait_s[BP_FRAMEWORK];
    double whole = sum > work->self_s[node] ? sum : work->self_s[node];
    parts.transfer_s = time * split->transfer_s / whole;
    parts.wait_s[BP_DSL] = time * split->wait_s[BP_DSL] / whole;
    parts.wait_s[BP_FRAMEWORK] = time * split->wait_s[BP_FRAMEWORK] / whole;
    return parts;
}

static uint32_t put_device(struct devices *devices, uint32_t index, const char *name) {
    struct bp_model *model = devices->model;
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        if (model->cuda.devices[i].index == index && strcmp(model->cuda.devices[i].name, name) == 0)
            return i;
    struct bp_model_device *fresh = BP_PLACE(model->cuda.devices, model->cuda.device_count);
    fresh->index = index;
    fresh->name = name;
    return model->cuda.device_count++;
}

/* The process's device of a record, named in its list of devices or not. */
static uint32_t find_device(struct devices *devices, uint32_t index) {
    const struct bp_profile *profile = devices->process->profile;
    for (uint32_t i = 0; i < profile->device_count; i++)
        if (profile->devices[i].index == index)
            return put_device(devices, index, bp_profile_string(profile, profile->devices[i].name));
    return put_device(devices, index, "");
}

static void take_larger(double *to, double value) {
    if (value > *to)
        *to = value;
}

static void take_smaller(double *to, double value) {
    if (value > 0 && (*to == 0 || value < *to))
        *to = value;
}

/* No process before this one was on the same machine and used the device. */
static bool is_first_on_machine(const struct devices *devices, uint32_t index) {
    const struct bp_model *model = devices->model;
    const char *boot_id = devices->process->profile->header.boot_id;
    for (const struct bp_model_process *other = model->processes; other < devices->process; other++)
        for (uint32_t i = 0; i < other->profile->device_count; i++)
            if (other->profile->devices[i].index == index && other->profile->devices[i].busy &&
                strcmp(other->profile->header.boot_id, boot_id) == 0)
                return false;
    return true;
}

static void add_device(struct devices *devices, const struct bp_device *from) {
    double tick_s = devices->process->tick_s;
    uint32_t number = find_device(devices, from->index);
    struct bp_model_device *device = &devices->model->cuda.devices[number];
    device->simulated |= from->flags & BP_DEVICE_SIMULATED;
    device->kernels_unknown |= has_unseen_kernels(devices->process->profile);
    device->processes += from->busy > 0;
    device->instances +=
        from->busy > 0 && (device->simulated || is_first_on_machine(devices, from->index));
    device->memory = from->memory > device->memory ? from->memory : device->memory;
    device->busy_s += (double)from->busy * tick_s;
    device->copy_s += (double)from->busy_copy * tick_s;
    device->compute_s += (double)from->busy_compute * tick_s;
    for (int i = 0; i < BP_DIRECTIONS; i++) {
        take_larger(&device->best[i], (double)from->best[i]);
        take_smaller(&device->pageable_s[i], (double)from->latency_pageable[i] * tick_s);
        take_smaller(&device->pinned_s[i], (double)from->latency_pinned[i] * tick_s);
        take_smaller(&device->latency_s[i], device->pageable_s[i]);
        take_smaller(&device->latency_s[i], device->pinned_s[i]);
    }
}

static struct bp_model_transfer *put_transfer(struct devices *devices,
                                              const struct bp_transfer *from) {
    struct bp_model *model = devices->model;
    struct place place = find_place(devices->process->profile, from->thread, from->node);
    struct bp_model_transfer key = {
        .direction = from->direction,
        .caller = caller_of(devices, place),
        .call = place.thread ? devices->map[place.thread->nodes[place.node].func] : BP_NO_FUNCTION,
        .device = find_device(devices, from->device),
        .source = from->source,
        .target = from->target,
        .flags = from->flags,
    };
    uint32_t number =
        bp_keys_put(&model->work->transfer_table, &key, offsetof(struct bp_model_transfer, count));
    if (number == model->cuda.transfer_count)
        *BP_APPEND(model->cuda.transfers, model->cuda.transfer_count) = key;
    return &model->cuda.transfers[number];
}

/* The context that made it, where that is known. The process's threads are the latest. */
static void add_bytes(const struct devices *devices, const struct bp_transfer *from,
                      uint32_t device) {
    const struct bp_profile *profile = devices->process->profile;
    struct place place = find_place(profile, from->thread, from->node);
    struct bp_model *model = devices->model;
    uint32_t process = (uint32_t)(devices->process - model->processes);
    for (uint32_t i = model->thread_count; i-- > 0 && model->threads[i].process == process;)
        if (model->threads[i].source == place.thread) {
            struct bp_thread_context *context = &model->threads[i].contexts[place.node];
            context->bytes += from->bytes;
            if (from->direction < BP_DIRECTIONS)
                context->direction_bytes[from->direction] += from->bytes;
            context->devices |= device < 64 ? UINT64_C(1) << device : 0;
        }
}

/* Without device records the calls' time is what there is. */
static void add_calls(struct bp_model_transfer *transfer, const struct bp_transfer *from,
                      double tick_s) {
    bool whole = from->flags & BP_TRANSFER_HOST_ONLY;
    double call_s = (double)(whole ? from->device_time : from->call_time) * tick_s;
    transfer->call_s += call_s;
    transfer->call_whole_s += whole ? call_s : 0;
    transfer->call_moving_s += whole ? 0 : (double)from->call_moving * tick_s;
    transfer->call_wait_s += whole ? 0 : (double)from->call_wait * tick_s;
}

static void add_transfer(struct devices *devices, const struct bp_transfer *from) {
    double tick_s = devices->process->tick_s;
    struct bp_model_transfer *transfer = put_transfer(devices, from);
    add_bytes(devices, from, transfer->device);
    transfer->count += from->count;
    transfer->bytes += from->bytes;
    transfer->untimed += from->flags & BP_TRANSFER_UNTIMED ? from->count : 0;
    transfer->untimed_bytes += from->flags & BP_TRANSFER_UNTIMED ? from->bytes : 0;
    transfer->small_count += from->small_count;
    transfer->small_bytes += from->small_bytes;
    transfer->duplicates += from->duplicates;
    transfer->duplicate_bytes += from->duplicate_bytes;
    transfer->round_trips += from->round_trips;
    transfer->round_trip_bytes += from->round_trip_bytes;
    transfer->exposed_s += (double)from->exposed * tick_s;
    *(from->flags & BP_TRANSFER_FAULT ? &transfer->faulted_s : &transfer->hidden_s) +=
        (double)from->hidden * tick_s;
    transfer->small_s += (double)from->small_time * tick_s;
    transfer->duplicate_s += (double)from->duplicate_time * tick_s;
    transfer->round_trip_s += (double)from->round_trip_time * tick_s;
    for (int i = 0; i < BP_SIZE_BUCKETS; i++)
        transfer->sizes[i] += from->sizes[i];
    add_calls(transfer, from, tick_s);
    if (from->flags & BP_TRANSFER_HOST_ONLY)
        return; /* how long the device took is unknown */
    transfer->device_s += (double)from->device_time * tick_s;
    take_smaller(&transfer->min_s, (double)from->min * tick_s);
    take_larger(&transfer->max_s, (double)from->max * tick_s);
}

void bp_transfer_add(struct bp_model_transfer *sum, const struct bp_model_transfer *transfer) {
    sum->count += transfer->count;
    sum->bytes += transfer->bytes;
    sum->untimed += transfer->untimed;
    sum->untimed_bytes += transfer->untimed_bytes;
    sum->small_count += transfer->small_count;
    sum->device_s += transfer->device_s;
    sum->exposed_s += transfer->exposed_s;
    sum->call_s += transfer->call_s;
    sum->call_whole_s += transfer->call_whole_s;
    sum->call_moving_s += transfer->call_moving_s;
    sum->call_wait_s += transfer->call_wait_s;
    sum->hidden_s += transfer->hidden_s;
    sum->faulted_s += transfer->faulted_s;
    sum->duplicates += transfer->duplicates;
    sum->round_trips += transfer->round_trips;
    for (int i = 0; i < BP_SIZE_BUCKETS; i++)
        sum->sizes[i] += transfer->sizes[i];
}

static void add_kernel(struct devices *devices, const struct bp_kernel *from) {
    struct bp_model *model = devices->model;
    const struct bp_profile *profile = devices->process->profile;
    struct place place = find_place(profile, from->thread, from->node);
    const char *name = bp_profile_string(profile, from->name);
    uint32_t caller = caller_of(devices, place);
    uint32_t device = find_device(devices, from->device);
    bool dsl = launch_category(devices, place) == BP_DSL; /* a library may serve both */
    char *key = bp_make_text("%u:%u:%d:%s", caller, device, dsl, name);
    uint32_t number = bp_keys_put(&model->work->kernel_table, key, strlen(key));
    free(key);
    if (number == model->cuda.kernel_count) {
        struct bp_model_kernel *fresh = BP_APPEND(model->cuda.kernels, model->cuda.kernel_count);
        fresh->name = bp_symbol_name(name);
        fresh->caller = caller;
        fresh->device = device;
        fresh->dsl = dsl;
    }
    struct bp_model_kernel *kernel = &model->cuda.kernels[number];
    double tick_s = devices->process->tick_s;
    kernel->count += from->count;
    kernel->device_s += (double)from->device_time * tick_s;
    kernel->wait_s += (double)from->wait * tick_s;
    take_smaller(&kernel->min_s, (double)from->min * tick_s);
    take_larger(&kernel->max_s, (double)from->max * tick_s);
}

void bp_model_add_devices(struct bp_model *model, const struct bp_model_process *process,
                          const uint32_t *map) {
    struct devices devices = {model, process, map};
    const struct bp_profile *profile = process->profile;
    model->run.imported |= profile->collector && profile->collector->state == BP_COLLECTOR_IMPORTED;
    for (uint32_t i = 0; i < profile->device_count; i++)
        add_device(&devices, &profile->devices[i]);
    for (uint32_t i = 0; i < profile->transfer_count; i++)
        add_transfer(&devices, &profile->transfers[i]);
    for (uint32_t i = 0; i < profile->kernel_count; i++)
        add_kernel(&devices, &profile->kernels[i]);
}

/* Thread time: while the bytes moved, and in the calls beside that. */
static double cost_of(const struct bp_model_transfer *transfer) {
    return transfer->exposed_s + transfer->call_s - transfer->call_whole_s -
           transfer->call_moving_s;
}

static int compare_transfers(const void *a, const void *b) {
    const struct bp_model_transfer *x = a;
    const struct bp_model_transfer *y = b;
    double difference = cost_of(x) - cost_of(y);
    if (difference != 0)
        return difference > 0 ? -1 : 1;
    if (x->device_s != y->device_s)
        return x->device_s > y->device_s ? -1 : 1;
    return memcmp(x, y, offsetof(struct bp_model_transfer, count));
}

static int compare_kernels(const void *a, const void *b) {
    const struct bp_model_kernel *x = a;
    const struct bp_model_kernel *y = b;
    if (x->device_s != y->device_s)
        return x->device_s > y->device_s ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : x->caller < y->caller ? -1 : x->caller > y->caller;
}

static bool has_object(const struct bp_model *model, const char *prefix) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_profile *profile = model->processes[i].profile;
        for (uint32_t k = 0; k < profile->object_count; k++) {
            const char *path = bp_profile_string(profile, profile->objects[k].path);
            if (strncmp(bp_base_name(path), prefix, strlen(prefix)) == 0)
                return true;
        }
    }
    return false;
}

/* A static runtime loads the simulated driver and finds that it cannot use it. */
static bool used_simulated(const struct bp_model *model) {
    return has_object(model, "libbattprofsim.so") &&
           (model->cuda.device_count > 0 || has_object(model, "libcudart.so"));
}

void bp_model_settle_devices(struct bp_model *model) {
    bool described = false;
    model->cuda.wall_s = model->wall.total_s;
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        described |= model->cuda.devices[i].simulated;
    if (!described && used_simulated(model))
        model->cuda.simulated = bp_model_variable(model, "BATTPROF_SIM");
    for (uint32_t i = 0; i < model->cuda.device_count; i++) {
        struct bp_model_device *device = &model->cuda.devices[i];
        double *times[] = {&device->busy_s, &device->copy_s, &device->compute_s};
        for (int k = 0; k < 3; k++) {
            *times[k] /= device->instances ? device->instances : 1;
            if (device->processes > 1 && *times[k] > model->wall.total_s)
                *times[k] = model->wall.total_s;
        }
    }
}

bool bp_model_used_cuda(const struct bp_model *model) {
    bool used = model->cuda.device_count > 0 || model->cuda.simulated;
    for (uint32_t i = 0; !used && i < model->function_count; i++)
        used = model->functions[i].cuda && model->functions[i].calls > 0;
    return used;
}

bool bp_model_is_hashed(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_collector *collector = model->processes[i].profile->collector;
        if (collector && collector->flags & BP_COLLECTOR_HASHED)
            return true;
    }
    return false;
}

void bp_model_finish_devices(struct bp_model *model) {
    if (model->cuda.transfer_count)
        qsort(model->cuda.transfers, model->cuda.transfer_count, sizeof(*model->cuda.transfers),
              compare_transfers);
    if (model->cuda.kernel_count)
        qsort(model->cuda.kernels, model->cuda.kernel_count, sizeof(*model->cuda.kernels),
              compare_kernels);
}
