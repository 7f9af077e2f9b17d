/* SPDX-License-Identifier: MIT
 *
 * Kernels: what their host stubs are called, the CPU functions that stand for them, and launches. A
 * kernel without CPU function takes its time and does nothing, said once if BATTPROF_SIM_VERBOSE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

/* The time of an unknown kernel: an empty kernel's, and an instruction mix of 20 ns per thread, 32
 * warps at a time on each multiprocessor. */
#define EMPTY_NS 2000
#define THREAD_PS 20

#define SHARED 49152 /* bytes for each block of a kernel that has not asked for more */

struct function {
    struct function *next;
    const void *stub;
    const char *name;
    size_t shared; /* that a launch may have */
};

struct kernel {
    struct kernel *next;
    const char *name;
    const void *stub;
    bp_sim_run run;
    const size_t *sizes;
    uint64_t fixed_ns, per_thread_ps;
};

/* Only grow, at the front; read without lock. */
static struct {
    struct function *functions;
    struct kernel *kernels;
} state;

int bp_sim_add_function(const void *stub, const char *name) {
    struct function *function = malloc(sizeof *function);
    if (!function)
        return cudaErrorMemoryAllocation;
    *function = (struct function){NULL, stub, name, SHARED};
    bp_sim_lock(&bp_sim_model.lock);
    function->next = state.functions;
    __atomic_store_n(&state.functions, function, __ATOMIC_RELEASE);
    bp_sim_unlock(&bp_sim_model.lock);
    return 0;
}

static char *copy_text(const char *text) {
    return text ? strdup(text) : NULL;
}

int bp_sim_register_kernel(const char *name, const void *stub, bp_sim_run run, const size_t *sizes,
                           uint64_t fixed_ns, uint64_t per_thread_ps) {
    struct kernel *kernel = malloc(sizeof *kernel);
    if (!kernel || (!name && !stub)) {
        free(kernel);
        return cudaErrorInvalidValue;
    }
    *kernel = (struct kernel){NULL, copy_text(name), stub, run, sizes, fixed_ns, per_thread_ps};
    bp_sim_lock(&bp_sim_model.lock);
    kernel->next = state.kernels;
    __atomic_store_n(&state.kernels, kernel, __ATOMIC_RELEASE);
    bp_sim_unlock(&bp_sim_model.lock);
    return 0;
}

static struct function *find_function(const void *stub) {
    struct function *f = __atomic_load_n(&state.functions, __ATOMIC_ACQUIRE);
    while (f && f->stub != stub)
        f = f->next;
    return f;
}

const char *bp_sim_function_name(const void *stub) {
    const struct function *f = find_function(stub);
    if (f)
        return f->name;
    const struct kernel *k = __atomic_load_n(&state.kernels, __ATOMIC_ACQUIRE);
    for (; k; k = k->next)
        if (k->stub == stub)
            return k->name ? k->name : "kernel";
    return NULL;
}

size_t bp_sim_shared(const void *stub) {
    const struct function *f = find_function(stub);
    return f ? __atomic_load_n(&f->shared, __ATOMIC_RELAXED) : SHARED;
}

int bp_sim_set_shared(const void *stub, int bytes) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    const char *name = bp_sim_function_name(stub);
    if (!p || !name)
        return p ? cudaErrorInvalidDeviceFunction : bp_sim_ready();
    if (bytes < 0 || bytes > p->shared_optin_kib << 10)
        return cudaErrorInvalidValue;
    int error = find_function(stub) ? 0 : bp_sim_add_function(stub, name);
    if (!error)
        __atomic_store_n(&find_function(stub)->shared, (size_t)bytes, __ATOMIC_RELAXED);
    return error;
}

static void say_missing(const char *name) {
    static int said;
    if (getenv("BATTPROF_SIM_VERBOSE") && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr,
                "battprof sim: kernel %s has no CPU function and does nothing; "
                "BATTPROF_SIM_KERNELS can name a library that registers one\n",
                name);
}

static const struct kernel *find_kernel(const void *stub, const char *name) {
    const struct kernel *k = __atomic_load_n(&state.kernels, __ATOMIC_ACQUIRE);
    while (k && k->stub != stub && !(k->name && !strcmp(k->name, name)))
        k = k->next;
    if (!k)
        say_missing(name);
    return k;
}

static uint64_t product(struct bp_sim_dim3 of) {
    return (uint64_t)of.x * of.y * of.z;
}

static uint64_t count_threads(const struct bp_sim_launch *l) {
    return product(l->grid) * product(l->block);
}

static uint64_t duration(const struct kernel *kernel, const struct bp_sim_launch *launch,
                         const struct bp_sim_properties *p) {
    uint64_t threads = count_threads(launch);
    if (kernel)
        return kernel->fixed_ns + threads * kernel->per_thread_ps / 1000;
    return EMPTY_NS + threads * THREAD_PS / (uint64_t)p->multiprocessors / 1000;
}

static unsigned count_lanes(const struct bp_sim_launch *launch, const struct bp_sim_properties *p) {
    uint64_t room = (uint64_t)p->multiprocessors * (uint64_t)p->threads;
    uint64_t lanes = (count_threads(launch) * BP_SIM_LANES + room - 1) / room;
    return lanes < BP_SIM_LANES ? (unsigned)lanes : BP_SIM_LANES;
}

static size_t sum(const size_t *sizes, size_t *count) {
    size_t total = 0;
    for (*count = 0; sizes && sizes[*count]; ++*count)
        total += (sizes[*count] + 15) & ~(size_t)15;
    return total;
}

/* Argument values go behind the array of pointers to them, each aligned for any type. */
static struct bp_sim_work *make_work(const struct bp_sim_launch *launch,
                                     const struct kernel *kernel) {
    size_t count, bytes = sum(kernel ? kernel->sizes : NULL, &count);
    size_t array = (count * sizeof(void *) + 31) & ~(size_t)15;
    struct bp_sim_work *work = bp_sim_work_new(BP_SIM_WORK_KERNEL, array + bytes);
    if (!work)
        return NULL;
    work->kernel.launch = *launch;
    work->kernel.run = kernel ? kernel->run : NULL;
    if (!count)
        return work;
    char *value = (char *)work->pointers + array;
    value -= (uintptr_t)value & 15;
    for (size_t i = 0; i < count; i++) {
        memcpy(value, launch->args[i], kernel->sizes[i]);
        work->pointers[i] = value;
        value += (kernel->sizes[i] + 15) & ~(size_t)15;
    }
    work->kernel.launch.args = work->pointers;
    return work;
}

/* Its arguments are known where the kernel is. */
static void use_managed(struct bp_sim_stream *stream, const struct kernel *kernel,
                        const struct bp_sim_launch *launch) {
    for (size_t i = 0; kernel && kernel->sizes && kernel->sizes[i]; i++)
        if (kernel->sizes[i] == sizeof(void *))
            bp_sim_managed_use(stream, *(void **)launch->args[i]);
}

int bp_sim_kernel_submit(struct bp_sim_work *work, struct bp_sim_stream *handle) {
    const struct bp_sim_launch launch = work->kernel.launch;
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    const char *name = bp_sim_function_name(launch.stub);
    if (!stream || !name) {
        free(work);
        return stream ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
    }
    const struct kernel *kernel = find_kernel(launch.stub, name);
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_KERNEL,
                                   .device = (uint32_t)stream->device,
                                   .stream = stream->id,
                                   .name = name,
                                   .grid = launch.grid,
                                   .block = launch.block,
                                   .shared = launch.shared,
                                   .node = work->node,
                                   .graph = work->graph};
    bp_sim_lock(&bp_sim_model.lock);
    struct bp_sim_device *device = &bp_sim_model.device[stream->device];
    const struct bp_sim_properties *p = device->properties;
    uint64_t length = duration(kernel, &launch, p);
    use_managed(stream, kernel, &launch);
    record.start = bp_sim_place_on_lanes(stream, count_lanes(&launch, p),
                                         (uint64_t)p->launch_latency_ns, length);
    record.end = record.start + length;
    bp_sim_queue_add(work, stream);
    uint64_t sequence = stream->sequence;
    bp_sim_unlock(&bp_sim_model.lock);
    bp_sim_emit(&record);
    if (kernel && kernel->run && !kernel->sizes)
        bp_sim_queue_finish(sequence, record.end);
    bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns);
    bp_sim_queue_throttle();
    return 0;
}

/* The limits are the same for all compute capabilities that there are here. */
static int check(const struct bp_sim_launch *l) {
    bool grid = l->grid.x <= INT32_MAX && l->grid.y <= 65535 && l->grid.z <= 65535;
    bool block = l->block.x <= 1024 && l->block.y <= 1024 && l->block.z <= 64;
    if (!bp_sim_function_name(l->stub))
        return cudaErrorInvalidDeviceFunction;
    if (!grid || !block || !count_threads(l) || product(l->block) > 1024)
        return cudaErrorInvalidConfiguration;
    return l->shared > bp_sim_shared(l->stub) ? cudaErrorInvalidValue : 0;
}

/* A kernel has to be in a stream of the current device; copies need not. */
int bp_sim_launch(const struct bp_sim_launch *launch, struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    const struct bp_sim_stream *stream = error ? NULL : bp_sim_stream_get(handle);
    if (!error)
        error = check(launch);
    if (!error && (!stream || stream->device != bp_sim_device()))
        error = cudaErrorInvalidResourceHandle;
    if (error)
        return error;
    const char *name = bp_sim_function_name(launch->stub);
    struct bp_sim_work *work = make_work(launch, find_kernel(launch->stub, name));
    if (!work)
        return cudaErrorMemoryAllocation;
    return bp_sim_captured(handle, work, &error) ? error : bp_sim_kernel_submit(work, handle);
}

int bp_sim_launch_together(const struct bp_sim_launch *launch, struct bp_sim_stream *handle) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    int blocks = 0, error = bp_sim_ready();
    if (!error)
        error = check(launch);
    if (!error)
        error = bp_sim_occupancy(&blocks, (int)product(launch->block), launch->shared);
    if (!error && product(launch->grid) > (uint64_t)blocks * (uint64_t)p->multiprocessors)
        error = cudaErrorCooperativeLaunchTooLarge;
    return error ? error : bp_sim_launch(launch, handle);
}

/* Runs in the order of the stream, on a thread that waits for it; releases are the same. */
int bp_sim_host_submit(struct bp_sim_work *work, struct bp_sim_stream *handle) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream) {
        free(work);
        return cudaErrorInvalidResourceHandle;
    }
    bp_sim_lock(&bp_sim_model.lock);
    bp_sim_place(stream, NULL, 0, 0);
    const bool watched = work->kind == BP_SIM_WORK_HOST;
    bp_sim_queue_add(work, stream);
    bp_sim_unlock(&bp_sim_model.lock);
    if (watched)
        bp_sim_queue_watch();
    bp_sim_queue_throttle();
    return 0;
}

int bp_sim_host_function(void (*function)(void *), void *data, struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    struct bp_sim_work *work = error ? NULL : bp_sim_work_new(BP_SIM_WORK_HOST, 0);
    if (!work)
        return error ? error : cudaErrorMemoryAllocation;
    work->host.function = function;
    work->host.data = data;
    return bp_sim_captured(handle, work, &error) ? error : bp_sim_host_submit(work, handle);
}
