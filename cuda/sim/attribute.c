/* SPDX-License-Identifier: MIT
 *
 * What a device is like, by CUDA's numbers, and how much runs on one of its multiprocessors.
 */
#include "cuda/sim/sim.h"

#define RESERVED 1024 /* of shared memory in each block, since 8.0 */

int bp_sim_attribute(int *value, int which, int device) {
    const struct bp_sim_properties *p = bp_sim_properties(device);
    if (!p)
        return bp_sim_ready() ? bp_sim_ready() : cudaErrorInvalidDevice;
    const struct {
        int which, value;
    } known[] = {{1, 1024},
                 {2, 1024},
                 {3, 1024},
                 {4, 64},
                 {5, 2147483647},
                 {6, 65535},
                 {7, 65535},
                 {8, 49152},
                 {9, 65536},
                 {10, 32},
                 {11, 2147483647},
                 {12, 65536},
                 {13, p->clock_khz},
                 {14, 512},
                 {15, 1},
                 {16, p->multiprocessors},
                 {19, 1},
                 {21, 131072},
                 {22, 131072},
                 {23, 65536},
                 {24, 16384},
                 {25, 16384},
                 {26, 16384},
                 {27, 32768},
                 {28, 32768},
                 {29, 2048},
                 {30, 512},
                 {31, 1},
                 {32, 1},
                 {33, 4 + device},
                 {36, p->memory_khz},
                 {37, p->memory_bits},
                 {38, p->l2_kib << 10},
                 {39, p->threads},
                 {40, p->copy_engines},
                 {41, 1},
                 {42, 32768},
                 {43, 2048},
                 {51, 32},
                 {75, p->major},
                 {76, p->minor},
                 {78, 1},
                 {79, 1},
                 {80, 1},
                 {81, p->shared_kib << 10},
                 {82, 65536},
                 {83, 1},
                 {89, 1},
                 {90, 1},
                 {95, 1},
                 {97, p->shared_optin_kib << 10},
                 {99, 1},
                 {106, p->blocks},
                 {111, p->major >= 8 ? RESERVED : 0},
                 {115, 1}};
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].which == which)
            *value = known[i].value;
    return 0;
}

/* Threads in warps, blocks, shared memory: what runs out first. Registers are not looked at. */
int bp_sim_occupancy(int *blocks, int block, size_t shared) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    *blocks = 0;
    if (!p || block <= 0 || block > 1024)
        return p ? cudaErrorInvalidValue : bp_sim_ready();
    size_t each = shared + (p->major >= 8 ? RESERVED : 0);
    int by_threads = p->threads / ((block + 31) / 32 * 32);
    int by_shared = each ? (int)(((size_t)p->shared_kib << 10) / each) : p->blocks;
    *blocks = by_threads < p->blocks ? by_threads : p->blocks;
    if (by_shared < *blocks)
        *blocks = shared > (size_t)p->shared_optin_kib << 10 ? 0 : by_shared;
    return 0;
}

int bp_sim_room_for(size_t *shared, int blocks, int block) {
    const struct bp_sim_properties *p = bp_sim_properties(bp_sim_device());
    int most = 0, error = bp_sim_occupancy(&most, block, 0);
    if (error || blocks <= 0 || blocks > most)
        return error ? error : cudaErrorInvalidValue;
    size_t each = ((size_t)p->shared_kib << 10) / (size_t)blocks;
    each -= p->major >= 8 ? RESERVED : 0;
    *shared = each < 49152 ? each : 49152;
    return 0;
}
