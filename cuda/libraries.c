/* SPDX-License-Identifier: MIT
 *
 * Which libraries and functions CUDA is, and the functions that hand out functions: a program that
 * has the runtime linked statically reaches the driver through these. And those by which a program
 * uses CUPTI itself.
 */
#include <string.h>

#include "cuda/api.h"
#include "cuda/calls.h"
#include "cuda/collector.h"
#include "cuda/cupti/abi.h"
#include "cuda/cupti/tool.h"
#include "cuda/internal.h"
#include "interpose/hook/source.h"

/* Functions that hand out functions. The fourth argument of cudaGetDriverEntryPoint came with
 * CUDA 12; passing it on is harmless. */
static struct {
    int (*cuGetProcAddress)(const char *, void **, int, uint64_t);
    int (*cuGetProcAddress_v2)(const char *, void **, int, uint64_t, int *);
    int (*cudaGetDriverEntryPoint)(const char *, void **, uint64_t, int *);
    int (*cudaGetDriverEntryPoint_ptsz)(const char *, void **, uint64_t, int *);
    int (*cudaGetDriverEntryPointByVersion)(const char *, void **, unsigned, uint64_t, int *);
    int (*cudaGetDriverEntryPointByVersion_ptsz)(const char *, void **, unsigned, uint64_t, int *);
    int (*cuptiActivityEnable)(uint32_t);
    int (*cuptiActivityRegisterCallbacks)(bp_cupti_requested *, bp_cupti_completed *);
} real;

static int exchange(int error, const char *name, void **function) {
    if (error == 0 && function && *function)
        *function = bp_source_pointer(name, *function);
    return error;
}

static int wrap_cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return exchange(real.cuGetProcAddress(name, function, version, flags), name, function);
}

static int wrap_cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                    int *status) {
    return exchange(real.cuGetProcAddress_v2(name, function, version, flags, status), name,
                    function);
}

static int wrap_cudaGetDriverEntryPoint(const char *name, void **function, uint64_t flags,
                                        int *status) {
    return exchange(real.cudaGetDriverEntryPoint(name, function, flags, status), name, function);
}

static int wrap_cudaGetDriverEntryPoint_ptsz(const char *name, void **function, uint64_t flags,
                                             int *status) {
    return exchange(real.cudaGetDriverEntryPoint_ptsz(name, function, flags, status), name,
                    function);
}

static int wrap_cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                                 unsigned version, uint64_t flags, int *status) {
    return exchange(real.cudaGetDriverEntryPointByVersion(name, function, version, flags, status),
                    name, function);
}

static int wrap_cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function,
                                                      unsigned version, uint64_t flags,
                                                      int *status) {
    return exchange(
        real.cudaGetDriverEntryPointByVersion_ptsz(name, function, version, flags, status), name,
        function);
}

static int wrap_cuptiActivityEnable(uint32_t kind) {
    bp_tool_enables(kind);
    return real.cuptiActivityEnable(kind);
}

static int wrap_cuptiActivityRegisterCallbacks(bp_cupti_requested *requested,
                                               bp_cupti_completed *completed) {
    if (requested && completed)
        bp_tool_registers();
    return real.cuptiActivityRegisterCallbacks(requested, completed);
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(cuGetProcAddress),
    BP_WRAP(cuGetProcAddress_v2),
    BP_WRAP(cudaGetDriverEntryPoint),
    BP_WRAP(cudaGetDriverEntryPoint_ptsz),
    BP_WRAP(cudaGetDriverEntryPointByVersion),
    BP_WRAP(cudaGetDriverEntryPointByVersion_ptsz),
    BP_WRAP(cuptiActivityEnable),
    BP_WRAP(cuptiActivityRegisterCallbacks),
};

/* Python wheels have names like libcudart-d0da41ae.so.11.0. */
static const char *const libraries[] = {"libcudart*.so*", "libcuda.so*", "libcupti*.so*", NULL};

/* Their own waits are the device's, not the thread's, and their threads none of the target's. The
 * runtime reaches the driver unseen, so that a call is one frame. */
static const char *const alone[] = {
    "libcudart*.so*",  "libcuda.so*", "libcupti*.so*", "libnvperf*.so*", "libbattprofsim.so*",
    "libnvidia-*.so*", NULL};

static int match(const char *name, const char **known) {
    int class = bp_cuda_match(name, known);
    if (class >= 0)
        bp_cuda_note_found();
    return class;
}

/* A statically linked runtime looks for the driver. Who looks in further places once CUDA has
 * started says nothing about it. */
static void missing(const char *path) {
    if (strstr(path, "libcuda.so.1") && !bp_cuda.pid)
        bp_cuda_reason(BP_COLLECTOR_HOST, 0, "no CUDA driver");
}

/* Without device records only copies have more to tell than any call; and, for their contents, what
 * they are complete after. */
static int is_plain(unsigned class) {
    return !bp_cuda_is_copy(class) && !(bp_cuda.hash && class == BP_CUDA_SYNC);
}

static struct bp_source source = {
    .alone = alone,
    .match = match,
    .wraps = wraps,
    .wrap_count = sizeof wraps / sizeof *wraps,
    .function_flags = BP_FUNC_CUDA,
    .calls = {.enter = bp_cuda_enter, .leave = bp_cuda_leave},
    .missing = missing,
};

static uint32_t mode_of(const char *text) {
    static const char *const names[] = {"off", "wrappers", "transfers", "full"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return BP_CUDA_FULL;
}

void bp_cuda_init(const char *mode, int hash) {
    bp_cuda.mode = mode_of(mode);
    bp_cuda.hash = hash != 0;
    source.libraries = bp_cuda.mode == BP_CUDA_OFF ? NULL : libraries;
    source.is_plain = bp_cuda.mode == BP_CUDA_WRAPPERS ? is_plain : NULL;
    bp_source_add(&source);
}
