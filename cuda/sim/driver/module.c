/* SPDX-License-Identifier: MIT
 *
 * libcuda: modules and their kernels. Device code is not read but for names: a kernel is known by
 * its own, and computes if a CPU function is registered for that.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/driver/driver.h"

#define NOT_FOUND 500
#define LARGEST ((size_t)1 << 28)

struct function {
    struct function *next;
    char name[];
};

struct module {
    const char *text; /* a copy of PTX or of a cubin; NULL: names in it cannot be told */
    size_t size;
    struct function *functions;
};

/* A fat binary is compressed; it begins with a number that is no text. */
static size_t image_size(const char *image) {
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)image;
    if (!memcmp(image, ELFMAG, SELFMAG))
        return elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
    return (unsigned char)image[0] < 0x80 && image[0] > 0 ? strnlen(image, LARGEST) : 0;
}

static int load(struct module **to, const char *image) {
    int error = bp_sim_ready();
    if (error || !to || !image)
        return error ? error : cudaErrorInvalidValue;
    size_t size = image_size(image);
    struct module *module = calloc(1, sizeof *module);
    char *text = size ? malloc(size) : NULL;
    if (!module || (size && !text)) {
        free(module);
        return cudaErrorMemoryAllocation;
    }
    *module = (struct module){text ? memcpy(text, image, size) : NULL, size, NULL};
    *to = module;
    return 0;
}

API int cuModuleLoadData(struct module **module, const void *image) {
    CALL(cuModuleLoadData, load(module, image));
}

API int cuModuleLoadDataEx(struct module **module, const void *image, unsigned count, int *options,
                           void **values) {
    (void)count, (void)options, (void)values;
    CALL(cuModuleLoadDataEx, load(module, image));
}

API int cuModuleLoadFatBinary(struct module **module, const void *image) {
    CALL(cuModuleLoadFatBinary, load(module, image));
}

/* Launches may still name its functions: they stay. */
static int unload(struct module *module) {
    if (!module)
        return cudaErrorInvalidResourceHandle;
    free((void *)module->text);
    free(module);
    return 0;
}

API int cuModuleUnload(struct module *module) {
    CALL(cuModuleUnload, unload(module));
}

static bool contains(const struct module *module, const char *name) {
    return !module->text || memmem(module->text, module->size, name, strlen(name));
}

static int get_function(struct function **to, struct module *module, const char *name) {
    if (!to || !module || !name)
        return cudaErrorInvalidValue;
    struct function *function = module->functions;
    while (function && strcmp(function->name, name))
        function = function->next;
    if (!function) {
        if (!contains(module, name))
            return NOT_FOUND;
        function = malloc(sizeof *function + strlen(name) + 1);
        if (!function)
            return cudaErrorMemoryAllocation;
        function->next = module->functions;
        strcpy(function->name, name);
        module->functions = function;
        bp_sim_add_function(function, function->name);
    }
    *to = function;
    return 0;
}

API int cuModuleGetFunction(struct function **function, struct module *module, const char *name) {
    CALL(cuModuleGetFunction, get_function(function, module, name));
}

/* The driver has no error for a grid that is too large. */
static int driver_error(int error) {
    return error == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : error;
}

static int launch(const void *function, struct bp_sim_dim3 grid, struct bp_sim_dim3 block,
                  size_t shared, bp_stream stream, void **args, void **extra) {
    struct bp_sim_launch launch = {function, grid, block, shared, args};
    if (extra) /* arguments in one piece: where each begins is not known */
        return cudaErrorNotSupported;
    return function ? driver_error(bp_sim_launch(&launch, stream)) : cudaErrorInvalidResourceHandle;
}

#define LAUNCH                                                                                     \
    (const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,        \
     unsigned bz, unsigned shared, bp_stream stream, void **args

API int cuLaunchKernel LAUNCH, void **extra) {
    CALL(cuLaunchKernel, launch(function, (struct bp_sim_dim3){gx, gy, gz},
                                (struct bp_sim_dim3){bx, by, bz}, shared, stream, args, extra));
}

API int cuLaunchCooperativeKernel LAUNCH) {
    const struct bp_sim_launch launch = {function, {gx, gy, gz}, {bx, by, bz}, shared, args};
    CALL(cuLaunchCooperativeKernel, function ? driver_error(bp_sim_launch_together(&launch, stream))
                                             : cudaErrorInvalidResourceHandle);
}

/* CUfunction_attribute: threads, shared, constant and local memory, registers, ptx, binary. */
#define MAX_DYNAMIC_SHARED 8
static int function_attribute(int *value, int which, const void *function) {
    const int values[] = {1024, 0, 0, 0, 32, 75, 75, 0, (int)bp_sim_shared(function), -1};
    if (!bp_sim_function_name(function) || which < 0 || which > 9)
        return function ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *value = values[which];
    return 0;
}

API int cuFuncGetAttribute(int *value, int which, const void *function) {
    CALL(cuFuncGetAttribute, function_attribute(value, which, function));
}

static int set_attribute(const void *function, int which, int value) {
    if (!bp_sim_function_name(function))
        return cudaErrorInvalidResourceHandle;
    return which == MAX_DYNAMIC_SHARED ? bp_sim_set_shared(function, value) : 0;
}

API int cuFuncSetAttribute(const void *function, int which, int value) {
    CALL(cuFuncSetAttribute, set_attribute(function, which, value));
}

API int cuFuncSetCacheConfig(const void *function, int configuration) {
    (void)configuration;
    CALL(cuFuncSetCacheConfig, bp_sim_function_name(function) ? 0 : cudaErrorInvalidResourceHandle);
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block,
                                                    size_t shared) {
    (void)function;
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, bp_sim_occupancy(blocks, block, shared));
}
