/* SPDX-License-Identifier: MIT
 *
 * Migrations of managed memory.
 */
#ifndef BP_CUDA_MANAGED_H
#define BP_CUDA_MANAGED_H

#include "cuda/sums.h"

/* CUPTI can be asked for them once the driver runs: when managed memory was allocated (`wanted`:
 * then the profile says so if they cannot be had), and some time after the start. */
void bp_managed_start(int wanted);
int bp_managed_is_on(void);
/* A call that asks for migrations; who asked for that of the page at `address`. */
void bp_managed_prefetch(uint64_t address, uint64_t bytes, const struct bp_work_record *by);
void bp_managed_find(uint64_t address, struct bp_work_record *work);

#endif
