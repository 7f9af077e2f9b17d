/* SPDX-License-Identifier: MIT
 *
 * libcuda: devices, and how its functions are found. cuInit loads the tool that the environment
 * names in CUDA_INJECTION64_PATH, as the driver does.
 */
#include "cuda/sim/driver/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_FOUND 500

static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*start)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;
    if (start)
        start();
}

API int cuInit(unsigned flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER)
        return cudaErrorNoDevice;
    pthread_once(&once, inject);
    return 0;
}

API int cuDriverGetVersion(int *version) {
    *version = 13000;
    CALL(cuDriverGetVersion, 0);
}

API int cuDeviceGetCount(int *count) {
    CALL(cuDeviceGetCount, bp_sim_device_count(count));
}

API int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    CALL(cuDeviceGet, bp_sim_properties(ordinal) ? 0 : cudaErrorInvalidDevice);
}

static int device_name(char *name, int size, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    if (p)
        snprintf(name, (size_t)size, "%s", p->name);
    return p ? 0 : cudaErrorInvalidDevice;
}

API int cuDeviceGetName(char *name, int size, int device) {
    CALL(cuDeviceGetName, device_name(name, size, device));
}

API int cuDeviceGetAttribute(int *value, int which, int device) {
    CALL(cuDeviceGetAttribute, bp_sim_attribute(value, which, device));
}

static int total(size_t *bytes, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    *bytes = p ? p->memory : 0;
    return p ? 0 : cudaErrorInvalidDevice;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    CALL(cuDeviceTotalMem_v2, total(bytes, device));
}

static int capability(int *major, int *minor, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    *major = p ? p->major : 0;
    *minor = p ? p->minor : 0;
    return p ? 0 : cudaErrorInvalidDevice;
}

API int cuDeviceComputeCapability(int *major, int *minor, int device) {
    CALL(cuDeviceComputeCapability, capability(major, minor, device));
}

static int uuid(char *to, int device) {
    memcpy(to, "battprof sim\0\0\0", 16);
    to[15] = (char)device;
    return bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice;
}

API int cuDeviceGetUuid(char *to, int device) {
    CALL(cuDeviceGetUuid, uuid(to, device));
}

API int cuDeviceGetUuid_v2(char *to, int device) {
    CALL(cuDeviceGetUuid_v2, uuid(to, device));
}

API int cuDeviceGetPCIBusId(char *id, int size, int device) {
    snprintf(id, (size_t)size, "0000:%02x:00.0", 4 + device);
    CALL(cuDeviceGetPCIBusId, bp_sim_properties(device) ? 0 : cudaErrorInvalidDevice);
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    CALL(cuDeviceCanAccessPeer,
         bp_sim_properties(device) && bp_sim_properties(peer) ? 0 : cudaErrorInvalidDevice);
}

/* The names are the runtime's. */
static int describe_error(int value, const char **text, int name) {
    const struct bp_sim_error *error = bp_sim_error(value);
    *text = !error ? NULL : name ? error->name : error->text;
    return error ? 0 : cudaErrorInvalidValue;
}

API int cuGetErrorString(int error, const char **text) {
    CALL(cuGetErrorString, describe_error(error, text, 0));
}

API int cuGetErrorName(int error, const char **text) {
    CALL(cuGetErrorName, describe_error(error, text, 1));
}

/* A static runtime asks for private tables here, and by one of them for a proof that the driver is
 * NVIDIA's. This one is not. */
API int cuGetExportTable(const void **table, const void *id) {
    (void)id;
    *table = NULL;
    return cudaErrorNotSupported;
}

/* Where the functions are, most of them in other files; what they take is of no interest here. */
#define X(name, id) API extern char at_##name[] __asm__(#name);
#include "cuda/sim/driver/driver.def"
#undef X

/* By the name without version, as cuGetProcAddress is asked. */
static void *find(const char *name) {
    static const struct {
        const char *name;
        void *function;
    } known[] = {
        {"cuGetExportTable", (void *)cuGetExportTable},
        {"cuInit", (void *)cuInit},
#define X(name, id) {#name, at_##name},
#include "cuda/sim/driver/driver.def"
#undef X
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strncmp(known[i].name, name, length) &&
            (!known[i].name[length] || !strcmp(known[i].name + length, "_v2")))
            return known[i].function;
    return NULL;
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    (void)version, (void)flags;
    *function = find(name);
    return *function ? 0 : NOT_FOUND;
}

API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *status) {
    int error = cuGetProcAddress(name, function, version, flags);
    if (!strcmp(name, "cuGetProcAddress"))
        *function = (void *)cuGetProcAddress_v2;
    if (status)
        *status = *function ? 0 : 1;
    return *function ? 0 : error;
}
