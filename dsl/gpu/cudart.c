/* SPDX-License-Identifier: MIT
 *
 * See cudart.h. On battprof's simulated device the kernel is a CPU function that is registered
 * here; on a real one it comes from libdslgpu.so, beside this library.
 */
#include "dsl/gpu/cudart.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dsl/gpu/tile.h"

/* The model's time of the kernel: a launch, and a few bytes per thread. */
#define KERNEL_NS 3000
#define KERNEL_THREAD_PS 4

static struct {
    pthread_once_t once;
    struct cudart cudart;
    const char *reason;
} state = {.once = PTHREAD_ONCE_INIT};

void cudart_run_grids(struct dim3 grid, struct dim3 block, void **args) {
    const struct task_grid *in = *(const struct task_grid **)args[0];
    struct task_grid *out = *(struct task_grid **)args[1];
    (void)block;
    const struct dsl_gpu_op op = *(const struct dsl_gpu_op *)args[2];
    for (unsigned k = 0; k < grid.x; k++)
        for (int cell = 0, cells = in[k].height * in[k].width; cell < cells; cell++)
            tile_cell(&in[k], &out[k], op, cell);
}

static void *open_runtime(void) {
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        void *runtime = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
        if (runtime)
            return runtime;
    }
    return NULL;
}

static bool find_functions(void *runtime) {
    bool found = true;
#define CUDART(name, parameters)                                                                   \
    state.cudart.name = (int(*) parameters)dlsym(runtime, #name);                                  \
    found = found && state.cudart.name;
#include "dsl/gpu/cudart.def"
#undef CUDART
    return found;
}

/* Registers with the simulated device; false on any other runtime. */
static bool add_kernel(void *runtime) {
    typedef void (*run_function)(struct dim3 grid, struct dim3 block, void **args);
    static const size_t sizes[] = {sizeof(void *), sizeof(void *), sizeof(struct dsl_gpu_op), 0};
    int (*add)(const char *name, const void *stub, run_function run, const size_t *sizes,
               uint64_t fixed_ns, uint64_t per_thread_ps);
    *(void **)&add = dlsym(runtime, "bp_sim_register_kernel");
    state.cudart.kernel = (const void *)cudart_run_grids;
    return add && !add("dsl_grids", state.cudart.kernel, cudart_run_grids, sizes, KERNEL_NS,
                       KERNEL_THREAD_PS);
}

static bool load_kernel(void) {
    char path[4096];
    Dl_info info;
    if (!dladdr((const void *)cudart_get, &info) || !strrchr(info.dli_fname, '/'))
        return false;
    int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
    snprintf(path, sizeof(path), "%.*s/libdslgpu.so", folder, info.dli_fname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const void *(*kernel)(void);
    *(void **)&kernel = library ? dlsym(library, "dsl_gpu_kernel") : NULL;
    state.cudart.kernel = kernel ? kernel() : NULL;
    return state.cudart.kernel;
}

static const char *start(void) {
    int devices = 0;
    void *runtime = open_runtime();
    if (!runtime)
        return "no libcudart.so.11.0, .12 or .13";
    if (!find_functions(runtime))
        return "the CUDA runtime lacks a function";
    if (state.cudart.cudaGetDeviceCount(&devices) || !devices)
        return "no CUDA device";
    if (!add_kernel(runtime) && !load_kernel())
        return "no libdslgpu.so (needs nvcc when building)";
    return NULL;
}

static void start_once(void) {
    state.reason = start();
}

const struct cudart *cudart_get(const char **reason) {
    pthread_once(&state.once, start_once);
    *reason = state.reason;
    return state.reason ? NULL : &state.cudart;
}
