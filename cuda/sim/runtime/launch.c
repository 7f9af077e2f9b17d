/* SPDX-License-Identifier: MIT
 *
 * libcudart: what nvcc's generated code calls to register a program's device code, and launches.
 */
#include <string.h>

#include "cuda/sim/runtime/runtime.h"

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

static int launch_together(const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                           void **args, size_t shared, bp_stream stream) {
    struct bp_sim_launch launch = {stub, grid, block, shared, args};
    return bp_sim_launch_together(&launch, stream);
}

#define LAUNCH                                                                                     \
    (const void *stub, struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args,             \
     size_t shared, bp_stream stream)

CALL2(cudaLaunchKernel, _ptsz, LAUNCH, launch(stub, grid, block, args, shared, STREAM(stream)))
CALL2(cudaLaunchCooperativeKernel, _ptsz, LAUNCH,
      launch_together(stub, grid, block, args, shared, STREAM(stream)))
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
#if BP_SIM_CUDA >= 12
    int clusters[6], reserved[16];
#endif
};

static int function_attributes(struct function_attributes *a, const void *stub) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    if (!p || !bp_sim_function_name(stub))
        return p ? cudaErrorInvalidDeviceFunction : bp_sim_ready();
    *a = (struct function_attributes){.max_threads = 1024,
                                      .registers = 32,
                                      .ptx = 10 * p->major + p->minor,
                                      .binary = 10 * p->major + p->minor,
                                      .max_dynamic = (int)bp_sim_shared(stub),
                                      .carveout = -1};
    return 0;
}

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *stub) {
    CALL(cudaFuncGetAttributes, function_attributes(attributes, stub));
}

#define MAX_DYNAMIC_SHARED 8 /* the others change nothing here */

API int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
    CALL(cudaFuncSetAttribute,
         attribute == MAX_DYNAMIC_SHARED ? bp_sim_set_shared(stub, value) : bp_sim_ready());
}

API int cudaFuncSetCacheConfig(const void *stub, int configuration_wanted) {
    (void)stub, (void)configuration_wanted;
    CALL(cudaFuncSetCacheConfig, bp_sim_ready());
}

API int cudaFuncGetName(const char **name, const void *stub) {
    *name = bp_sim_function_name(stub);
    CALL(cudaFuncGetName, *name ? 0 : cudaErrorInvalidDeviceFunction);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int block,
                                                      size_t shared) {
    (void)stub;
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, bp_sim_occupancy(blocks, block, shared));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                               int block, size_t shared,
                                                               unsigned flags) {
    (void)stub, (void)flags;
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
         bp_sim_occupancy(blocks, block, shared));
}

API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *stub, int blocks,
                                                  int block) {
    (void)stub;
    CALL(cudaOccupancyAvailableDynamicSMemPerBlock, bp_sim_room_for(shared, blocks, block));
}

/* Handles of the driver are the stubs, too. */
static int get_function(const void **function, const void *stub) {
    *function = bp_sim_function_name(stub) ? stub : NULL;
    return *function ? 0 : cudaErrorInvalidDeviceFunction;
}

API int cudaGetFuncBySymbol(const void **function, const void *stub) {
    CALL(cudaGetFuncBySymbol, get_function(function, stub));
}

#if BP_SIM_CUDA >= 12
API int cudaGetKernel(const void **kernel, const void *stub) {
    CALL(cudaGetKernel, get_function(kernel, stub));
}
#endif

static int entry_point(const char *name, void **function, int *status) {
    int error = name && function ? bp_sim_ready() : cudaErrorInvalidValue;
    if (error)
        return error;
    *function = bp_sim_driver_function(name);
    if (status)
        *status = *function ? 0 : 1;
    return *function || status ? 0 : cudaErrorSymbolNotFound;
}

#if BP_SIM_CUDA == 11
#    define STATUS
#    define STATUS_OUT NULL
#else
#    define STATUS , int *status
#    define STATUS_OUT status
#endif
CALL2(cudaGetDriverEntryPoint, _ptsz, (const char *name, void **function, uint64_t flags STATUS),
      ((void)flags, entry_point(name, function, STATUS_OUT)))
#if BP_SIM_CUDA >= 12
CALL2(cudaGetDriverEntryPointByVersion, _ptsz,
      (const char *name, void **function, unsigned version, uint64_t flags, int *status),
      ((void)version, (void)flags, entry_point(name, function, status)))
#endif
