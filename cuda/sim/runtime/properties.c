/* SPDX-License-Identifier: MIT
 *
 * libcudart: cudaDeviceProp.
 */
#include "cuda/sim/runtime/properties.h"

#include <stdio.h>
#include <string.h>

#include "cuda/sim/runtime/runtime.h"

static void fill_limits(struct bp_cuda_properties *to, const struct bp_sim_properties *p) {
    to->shared_per_block = 49152;
    to->registers_per_block = 65536;
    to->warp_size = 32;
    to->memory_pitch = 2147483647;
    to->max_threads_per_block = to->max_threads[0] = to->max_threads[1] = 1024;
    to->max_threads[2] = 64;
    to->max_grid[0] = 2147483647;
    to->max_grid[1] = to->max_grid[2] = 65535;
    to->constant_memory = 65536;
    to->texture_alignment = to->surface_alignment = 512;
    to->texture_pitch_alignment = 32;
    to->max_threads_per_multiprocessor = p->threads;
    to->shared_per_multiprocessor = (size_t)p->shared_kib << 10;
    to->shared_per_block_optin = (size_t)p->shared_optin_kib << 10;
    to->registers_per_multiprocessor = 65536;
    to->max_blocks_per_multiprocessor = p->blocks;
}

/* The limits of compute capabilities 6.0 to 8.9, as deviceQuery prints them. */
static void fill_textures(struct bp_cuda_properties *to) {
    to->texture_1d = to->texture_2d[0] = 131072;
    to->texture_2d[1] = 65536;
    to->texture_3d[0] = to->texture_3d[1] = to->texture_3d[2] = 16384;
    to->texture_1d_layered[0] = to->texture_2d_layered[0] = to->texture_2d_layered[1] = 32768;
    to->texture_1d_layered[1] = to->texture_2d_layered[2] = 2048;
}

static int reserved_shared(int device) {
    int value = 0;
    bp_sim_attribute(&value, 111, device);
    return value;
}

static void fill_properties(struct bp_cuda_properties *to, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    memset(to, 0, sizeof *to);
    fill_limits(to, p);
    fill_textures(to);
    snprintf(to->name, sizeof to->name, "%s", p->name);
    memcpy(to->uuid, "battprof sim", 12);
    to->uuid[15] = (char)device;
    to->memory = p->memory;
    to->major = p->major;
    to->minor = p->minor;
    to->multiprocessors = p->multiprocessors;
    to->can_map_host_memory = to->concurrent_kernels = to->unified_addressing = 1;
    to->managed_memory = to->concurrent_managed_access = to->stream_priorities = 1;
    to->async_engines = p->copy_engines;
    to->cooperative_launch = to->compute_preemption = 1;
    to->ecc = to->global_l1 = to->local_l1 = 1;
    to->reserved_shared = (size_t)reserved_shared(device);
    to->memory_bus_width = p->memory_bits;
    to->l2_size = p->l2_kib << 10;
    to->pci_bus = 4 + device;
#if BP_SIM_CUDA >= 12
    to->host_register = to->memory_pools = 1;
#endif
#if BP_SIM_CUDA < 13
    to->clock_khz = p->clock_khz;
    to->device_overlap = 1;
    to->memory_clock_khz = p->memory_khz;
#endif
}

/* bytes: as much as the caller's structure has. */
static int properties(void *to, int device, size_t bytes) {
    struct bp_cuda_properties all;
    int count, error = bp_sim_device_count(&count);
    if (error || device < 0 || device >= count)
        return error ? error : cudaErrorInvalidDevice;
    fill_properties(&all, device);
    memcpy(to, &all, bytes);
    return 0;
}

#if BP_SIM_CUDA == 12
API int cudaGetDeviceProperties_v2(void *to, int device) {
    CALL(cudaGetDeviceProperties_v2, properties(to, device, sizeof(struct bp_cuda_properties)));
}
API int cudaGetDeviceProperties(void *to, int device) { /* for programs of 11 */
    CALL(cudaGetDeviceProperties, properties(to, device, BP_CUDA_PROPERTIES_11));
}
#else
API int cudaGetDeviceProperties(void *to, int device) {
    CALL(cudaGetDeviceProperties, properties(to, device, sizeof(struct bp_cuda_properties)));
}
#endif
