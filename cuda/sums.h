/* SPDX-License-Identifier: MIT
 *
 * The tables of the profile, with the lock held.
 */
#ifndef BP_CUDA_SUMS_H
#define BP_CUDA_SUMS_H

#include "cuda/attribute.h"
#include "cuda/table.h"
#include "cuda/thread.h"

struct bp_sums {
    struct bp_cuda_table devices, transfers, kernels, splits, waits, asked;
    struct bp_collector *collector;
};
extern struct bp_sums bp_sums;
struct bp_work_record {
    uint64_t start, end; /* ticks */
    uint64_t bytes;
    uint32_t thread, node;
    uint32_t device;
    uint8_t direction, source, target;
    uint8_t flags; /* BP_TRANSFER_* */
    uint32_t half; /* of a copy between devices that goes through the host: 1 down, 2 up */
};
uint32_t bp_sums_transfer(const struct bp_work_record *work);
/* The second half of a copy, whose first half is counted in the transfer of that index. */
uint32_t bp_sums_second(const struct bp_work_record *work, uint32_t first);
uint32_t bp_sums_kernel(const struct bp_work_record *work, const char *name);
struct bp_transfer *bp_sums_transfer_at(uint32_t index);
/* A call that has ended (`ended` 1) or is still open (0), of a thread whose last launch was there.
 */
void bp_sums_call(const struct bp_queued_call *call, uint32_t launch_node, unsigned ended);
/* A copy without records of the device takes all of its call's time. */
struct bp_host_sums bp_sums_host(const struct bp_work_record *work);
void bp_sums_host_copy(const struct bp_host_sums *to, const struct bp_work_record *work, int blocks,
                       uint64_t own);
void bp_sums_own(uint32_t thread, uint32_t node, uint64_t own);
void bp_sums_charge(void *unused, const struct bp_charge *charge);
void bp_sums_busy(const struct bp_window *window);

#endif
