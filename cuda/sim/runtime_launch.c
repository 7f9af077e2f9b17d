/* SPDX-License-Identifier: MIT
 *
 * libcudart: what nvcc's generated code calls to register a program's device code, and launches.
 */
#include <string.h>

#include "cuda/sim/runtime.h"

API void **__cudaRegisterFatBinary(void *binary);
API void **__cudaRegisterFatBinary(void *binary) {
    static void *handle;
    handle = binary;
    return &handle;
}

API void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

API void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

API char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

API void __cudaRegisterFunction(void **handle, const char *stub, char *function, const char *name,
                                int limit, void *tid, void *bid, void *block, void *grid,
                                int *warp) {
    (void)handle, (void)function, (void)limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp;
    bp_sim_add_function(stub, name);
}

API void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name,
                           int external, size_t size, int constant, int global) {
    (void)handle, (void)address, (void)external, (void)constant, (void)global;
    bp_sim_add_symbol(shadow, name, size);
}

API void __cudaRegisterManagedVar(void **handle, void **shadow, char *address, const char *name,
                                  int external, size_t size, int constant, int global) {
    (void)handle, (void)address, (void)external, (void)constant, (void)global;
    bp_sim_add_managed(shadow, name, size);
}

/* kernel<<<grid, block, shared, stream>>>(...) pushes, and the kernel's stub pops. */
static __thread struct {
    struct bp_sim_dim3 grid, block;
    size_t shared;
    bp_stream stream;
} configuration;

API unsigned __cudaPushCallConfiguration(struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                                         size_t shared, bp_stream stream) {
    configuration.grid = grid;
    configuration.block = block;
    configuration.shared = shared;
    configuration.stream = stream;
    return 0;
}

API int __cudaPopCallConfiguration(struct bp_sim_dim3 *grid, struct bp_sim_dim3 *block,
                                   size_t *shared, bp_stream *stream) {
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *stream = configuration.stream;
    return 0;
}

static int launch(const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args,
                  size_t shared, bp_stream stream) {
    struct bp_sim_launch launch = {stub, grid, block, shared, args};
    return bp_sim_launch(&launch, stream);
}

#define LAUNCH                                                                                     \
    (const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args,             \
     size_t shared, bp_stream stream)

CALL2(cudaLaunchKernel, _ptsz, LAUNCH, launch(stub, grid, block, args, shared, STREAM(stream)))
CALL2(cudaLaunchCooperativeKernel, _ptsz, LAUNCH,
      launch(stub, grid, block, args, shared, STREAM(stream)))
CALL2(cudaLaunchKernelExC, _ptsz,
      (const struct bp_cuda_launch_config *c, const void *stub, void **args),
      launch(stub, c->grid, c->block, args, c->shared, STREAM(c->stream)))

/* Since 12.8 stubs ask for a handle first. It is the stub itself. CUPTI tells these launches as
 * cudaLaunchKernel. */
API int __cudaGetKernel(const void **kernel, const void *stub) {
    *kernel = stub;
    return bp_sim_function_name(stub) ? 0 : cudaErrorInvalidDeviceFunction;
}

API int __cudaLaunchKernel LAUNCH {
    CALL(cudaLaunchKernel, launch(stub, grid, block, args, shared, stream));
}

API int __cudaLaunchKernel_ptsz LAUNCH {
    const bool ptds_ = true;
    CALL(cudaLaunchKernel_ptsz, launch(stub, grid, block, args, shared, STREAM(stream)));
}

struct function_attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx, binary, cache_mode, max_dynamic, carveout;
};

static int function_attributes(struct function_attributes *a, const void *stub) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    if (!p || !bp_sim_function_name(stub))
        return p ? cudaErrorInvalidDeviceFunction : bp_sim_ready();
    *a = (struct function_attributes){.max_threads = 1024,
                                      .registers = 32,
                                      .ptx = 10 * p->major + p->minor,
                                      .binary = 10 * p->major + p->minor,
                                      .max_dynamic = 49152,
                                      .carveout = -1};
    return 0;
}

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *stub) {
    CALL(cudaFuncGetAttributes, function_attributes(attributes, stub));
}

API int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
    (void)stub, (void)attribute, (void)value;
    CALL(cudaFuncSetAttribute, bp_sim_ready());
}

API int cudaFuncSetCacheConfig(const void *stub, int configuration_wanted) {
    (void)stub, (void)configuration_wanted;
    CALL(cudaFuncSetCacheConfig, bp_sim_ready());
}

API int cudaFuncGetName(const char **name, const void *stub) {
    *name = bp_sim_function_name(stub);
    CALL(cudaFuncGetName, *name ? 0 : cudaErrorInvalidDeviceFunction);
}

/* 1024 threads and 16 blocks on a multiprocessor, as on the T4. */
static int occupancy(int *blocks, int block) {
    *blocks = block > 0 && block <= 1024 ? 1024 / block : 0;
    if (*blocks > 16)
        *blocks = 16;
    return *blocks ? 0 : cudaErrorInvalidValue;
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int block,
                                                      size_t shared) {
    (void)stub, (void)shared;
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, occupancy(blocks, block));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                               int block, size_t shared,
                                                               unsigned flags) {
    (void)stub, (void)shared, (void)flags;
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, occupancy(blocks, block));
}
