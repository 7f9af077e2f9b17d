/* SPDX-License-Identifier: MIT
 *
 * Kernels: what their host stubs are called, the CPU functions that stand for them, and launches. A
 * kernel without CPU function takes its time and does nothing, said once if BATTPROF_SIM_VERBOSE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

/* Of a kernel that nobody knows: an empty kernel's, and an instruction mix of 20 ns per thread, 32
 * warps at a time on each multiprocessor. */
#define EMPTY_NS 2000
#define THREAD_PS 20

struct function {
    struct function *next;
    const void *stub;
    const char *name;
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
    *function = (struct function){NULL, stub, name};
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

const char *bp_sim_function_name(const void *stub) {
    const struct function *f = __atomic_load_n(&state.functions, __ATOMIC_ACQUIRE);
    for (; f; f = f->next)
        if (f->stub == stub)
            return f->name;
    const struct kernel *k = __atomic_load_n(&state.kernels, __ATOMIC_ACQUIRE);
    for (; k; k = k->next)
        if (k->stub == stub)
            return k->name ? k->name : "kernel";
    return NULL;
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

static uint64_t count_threads(const struct bp_sim_launch *l) {
    return (uint64_t)l->grid.x * l->grid.y * l->grid.z * l->block.x * l->block.y * l->block.z;
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
        bp_sim_queue_run(sequence);
    bp_sim_wait_until(bp_sim_call_start() + (uint64_t)p->launch_call_ns);
    bp_sim_queue_throttle();
    return 0;
}

int bp_sim_launch(const struct bp_sim_launch *launch, struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    uint64_t block = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (error)
        return error;
    if (!block || block > 1024 || !count_threads(launch))
        return cudaErrorInvalidConfiguration;
    const char *name = bp_sim_function_name(launch->stub);
    if (!name)
        return cudaErrorInvalidDeviceFunction;
    struct bp_sim_work *work = make_work(launch, find_kernel(launch->stub, name));
    if (!work)
        return cudaErrorMemoryAllocation;
    return bp_sim_captured(handle, work, &error) ? error : bp_sim_kernel_submit(work, handle);
}

/* Runs in the order of the stream, on a thread that waits for it. */
int bp_sim_host_submit(struct bp_sim_work *work, struct bp_sim_stream *handle) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream) {
        free(work);
        return cudaErrorInvalidResourceHandle;
    }
    bp_sim_lock(&bp_sim_model.lock);
    bp_sim_place(stream, NULL, 0, 0);
    bp_sim_queue_add(work, stream);
    bp_sim_unlock(&bp_sim_model.lock);
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
