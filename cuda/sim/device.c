/* SPDX-License-Identifier: MIT
 *
 * The devices: which preset (BATTPROF_SIM), how many (BATTPROF_SIM_DEVICES), which fault
 * (BATTPROF_SIM_FAULT), and whose the correlation ids are (call.c). The environment is read once,
 * at the first call.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

#define CONTEXT_NS 20000000 /* see presets.def */

static const struct bp_sim_properties presets[] = {
#define X(id, name, major, minor, sms, mib, gbs, h2d, d2h, ph2d, pd2h, latency, engines, call,     \
          launch, clock, threads, blocks, shared, optin, l2, bits, mclock)                         \
    {#id,     name,  major,  minor, sms,     (size_t)(mib) << 20,                                  \
     gbs,     h2d,   d2h,    ph2d,  pd2h,    latency,                                              \
     engines, call,  launch, clock, threads, blocks,                                               \
     shared,  optin, l2,     bits,  mclock},
#include "cuda/sim/presets.def"
#undef X
};

struct bp_sim_model bp_sim_model;

static struct {
    pthread_once_t once;
    enum bp_sim_fault fault;
    bool own_ids;
    bool forked;
    int driver_lock;
    bool driver_loaded;
} state = {.once = PTHREAD_ONCE_INIT};

static __thread int current;

static enum bp_sim_fault read_fault(void) {
    static const char *const names[] = {"",
                                        "no-driver",
                                        "no-privileges",
                                        "drop-buffers",
                                        "stolen-callback",
                                        "late-records",
                                        "hang-flush",
                                        "out-of-memory",
                                        "no-migrations",
                                        "single-device",
                                        "late-calls",
                                        "no-times"};
    const char *text = getenv("BATTPROF_SIM_FAULT");
    for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(text, names[i]))
            return (enum bp_sim_fault)i;
    if (text)
        fprintf(stderr, "battprof sim: BATTPROF_SIM_FAULT: unknown fault %s\n", text);
    return BP_SIM_FAULT_NONE;
}

static const struct bp_sim_properties *read_preset(void) {
    const char *text = getenv("BATTPROF_SIM");
    for (size_t i = 0; text && i < sizeof presets / sizeof presets[0]; i++)
        if (!strcmp(text, presets[i].id))
            return &presets[i];
    if (text && text[0])
        fprintf(stderr, "battprof sim: BATTPROF_SIM: no device %s; it is a t4\n", text);
    return &presets[0];
}

/* CUDA is not usable in a forked child, and neither are we. */
static void in_child(void) {
    for (int i = 0; i < bp_sim_model.devices; i++)
        state.forked = state.forked || bp_sim_model.device[i].started;
    bp_sim_model.lock = 0;
}

/* CPU functions for the kernels of unmodified programs: its constructor registers them. */
static void load_kernels(void) {
    const char *path = getenv("BATTPROF_SIM_KERNELS");
    if (path && path[0] && !dlopen(path, RTLD_NOW | RTLD_LOCAL))
        fprintf(stderr, "battprof sim: BATTPROF_SIM_KERNELS: %s\n", dlerror());
}

static void init(void) {
    const char *count = getenv("BATTPROF_SIM_DEVICES");
    int n = count ? atoi(count) : 1;
    const char *correlation = getenv("BATTPROF_SIM_CORRELATION");
    state.fault = read_fault();
    state.own_ids = correlation && !strcmp(correlation, "own");
    bp_sim_model.devices = n < 1 ? 1 : n > BP_SIM_DEVICES ? BP_SIM_DEVICES : n;
    const struct bp_sim_properties *preset = read_preset();
    for (int i = 0; i < bp_sim_model.devices; i++) {
        struct bp_sim_device *device = &bp_sim_model.device[i];
        device->properties = preset;
        device->legacy = (struct bp_sim_stream){.id = 7, .device = i};
    }
    pthread_atfork(NULL, NULL, in_child);
}

enum bp_sim_fault bp_sim_fault(void) {
    pthread_once(&state.once, init);
    return state.fault;
}

bool bp_sim_has_own_ids(void) {
    return state.own_ids;
}

int bp_sim_device_count(int *count) {
    if (!count)
        return cudaErrorInvalidValue;
    *count = 0;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER)
        return cudaErrorInsufficientDriver;
    *count = bp_sim_model.devices;
    return state.forked ? cudaErrorInitializationError : 0;
}

/* Ours, beside this library; a real one would find no device. */
static void *open_driver(void) {
    char path[4096];
    Dl_info info;
    if (!dladdr((void *)bp_sim_ready, &info) || !strrchr(info.dli_fname, '/'))
        return NULL;
    int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
    snprintf(path, sizeof path, "%.*s/libcuda.so.1", folder, info.dli_fname);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

void *bp_sim_driver_function(const char *name) {
    void *driver = open_driver(), *function = NULL;
    int (*find)(const char *, void **, int, uint64_t) =
        driver ? (int (*)(const char *, void **, int, uint64_t))dlsym(driver, "cuGetProcAddress")
               : NULL;
    return find && find(name, &function, 0, 0) == 0 ? function : NULL;
}

/* As the runtime does it: the driver is loaded at the first call that needs it, and the driver
 * loads the tool that the environment names. Tools look out for both. */
static void load_driver(void) {
    if (__atomic_load_n(&state.driver_loaded, __ATOMIC_ACQUIRE))
        return;
    bp_sim_lock(&state.driver_lock);
    if (!state.driver_loaded) {
        void *driver = open_driver();
        int (*start)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
        if (start)
            start(0);
        load_kernels();
        __atomic_store_n(&state.driver_loaded, true, __ATOMIC_RELEASE);
    }
    bp_sim_unlock(&state.driver_lock);
}

int bp_sim_ready(void) {
    if (bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER)
        return cudaErrorInsufficientDriver;
    if (state.forked)
        return cudaErrorInitializationError;
    struct bp_sim_device *device = &bp_sim_model.device[current];
    if (__atomic_load_n(&device->started, __ATOMIC_ACQUIRE))
        return 0;
    load_driver();
    bp_sim_lock(&bp_sim_model.lock);
    bool first = !device->started;
    __atomic_store_n(&device->started, true, __ATOMIC_RELEASE);
    bp_sim_unlock(&bp_sim_model.lock);
    if (first)
        bp_sim_wait_until(bp_sim_now() + CONTEXT_NS);
    return 0;
}

bool bp_sim_started(void) {
    return __atomic_load_n(&state.driver_loaded, __ATOMIC_ACQUIRE);
}

int bp_sim_device(void) {
    return current;
}

int bp_sim_set_device(int device) {
    int count, error = bp_sim_device_count(&count);
    if (error)
        return error;
    if (device < 0 || device >= count)
        return cudaErrorInvalidDevice;
    current = device;
    return 0;
}

const struct bp_sim_properties *bp_sim_properties(int device) {
    int count;
    if (bp_sim_device_count(&count) || device < 0 || device >= count)
        return NULL;
    return bp_sim_model.device[device].properties;
}

int bp_sim_peer_enable(int device, int peer, bool on) {
    unsigned bit = 1u << peer;
    if (!bp_sim_properties(device) || !bp_sim_properties(peer) || device == peer)
        return cudaErrorInvalidDevice;
    bp_sim_lock(&bp_sim_model.lock);
    unsigned *peers = &bp_sim_model.device[device].peers;
    int error = 0;
    if (on == !!(*peers & bit))
        error = on ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled;
    else
        *peers ^= bit;
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

int bp_sim_memory_info(size_t *unused, size_t *total) {
    int error = bp_sim_ready();
    if (error)
        return error;
    bp_sim_lock(&bp_sim_model.lock);
    const struct bp_sim_device *device = &bp_sim_model.device[current];
    *total = device->properties->memory;
    *unused = device->used < *total ? *total - device->used : 0;
    if (bp_sim_fault() == BP_SIM_FAULT_OUT_OF_MEMORY)
        *unused = 0;
    bp_sim_unlock(&bp_sim_model.lock);
    return 0;
}

int bp_sim_device_synchronize(void) {
    int error = bp_sim_ready();
    if (error)
        return error;
    bp_sim_lock(&bp_sim_model.lock);
    uint64_t end = bp_sim_model.device[current].end, sequence = bp_sim_model.sequence;
    bp_sim_unlock(&bp_sim_model.lock);
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_SYNC, .start = bp_sim_now(), .device = (uint32_t)current, .value = 4};
    bp_sim_finish(end, sequence);
    record.end = bp_sim_now();
    bp_sim_emit(&record);
    return 0;
}
