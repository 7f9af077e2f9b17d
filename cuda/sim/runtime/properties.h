/* SPDX-License-Identifier: MIT
 *
 * cudaDeviceProp: 728 bytes in 11, the same with more behind in 12, and 13 took some fields out. A
 * test compares the offsets with the toolkit's header where one is installed.
 */
#ifndef BP_CUDA_SIM_RUNTIME_PROPERTIES_H
#define BP_CUDA_SIM_RUNTIME_PROPERTIES_H

#include <stddef.h>

#ifndef BP_SIM_CUDA
#    define BP_SIM_CUDA 13
#endif

#define BP_CUDA_PROPERTIES_11 728

#if BP_SIM_CUDA < 13
#    define BEFORE_13(field) field;
#else
#    define BEFORE_13(field)
#endif

struct bp_cuda_properties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared_per_block;
    int registers_per_block, warp_size;
    size_t memory_pitch;
    int max_threads_per_block, max_threads[3], max_grid[3];
    BEFORE_13(int clock_khz)
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    BEFORE_13(int device_overlap)
    int multiprocessors;
    BEFORE_13(int kernel_timeout)
    int integrated, can_map_host_memory;
    BEFORE_13(int compute_mode)
    int texture_1d, texture_1d_mipmap;
    BEFORE_13(int texture_1d_linear)
    int texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2];
    int texture_3d[3], texture_3d_alt[3], texture_cubemap, texture_1d_layered[2];
    int texture_2d_layered[3], texture_cubemap_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3];
    int surface_cubemap, surface_cubemap_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines;
    int unified_addressing;
    BEFORE_13(int memory_clock_khz)
    int memory_bus_width, l2_size, l2_persisting, max_threads_per_multiprocessor;
    int stream_priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed_memory, multi_gpu_board, multi_gpu_group;
    int host_atomics;
    BEFORE_13(int single_to_double)
    int pageable_access, concurrent_managed_access, compute_preemption, host_pointer_registered;
    int cooperative_launch;
    BEFORE_13(int cooperative_multi)
    size_t shared_per_block_optin;
    int pageable_page_tables, managed_from_host, max_blocks_per_multiprocessor, policy_window;
    size_t reserved_shared;
#if BP_SIM_CUDA >= 12
    int host_register, sparse_arrays, host_register_read_only, semaphores, memory_pools;
#endif
#if BP_SIM_CUDA == 12
    int more[8], reserved[63];
#elif BP_SIM_CUDA == 13
    int more[15], reserved[56];
#endif
};

#if BP_SIM_CUDA == 11
_Static_assert(sizeof(struct bp_cuda_properties) == BP_CUDA_PROPERTIES_11, "11.8");
#elif BP_SIM_CUDA == 12
_Static_assert(sizeof(struct bp_cuda_properties) == 1032, "12.4");
#else
_Static_assert(sizeof(struct bp_cuda_properties) == 1008, "13.0");
#endif

#undef BEFORE_13
#endif
