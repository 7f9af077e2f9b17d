/* SPDX-License-Identifier: MIT
 *
 * What was copied before.
 */
#ifndef BP_CUDA_CONTENT_H
#define BP_CUDA_CONTENT_H

#include "cuda/slot.h"
#include "cuda/thread.h"
#include "profile/format.h"

#define BP_CONTENT_DUPLICATE 0x1u
#define BP_CONTENT_ROUND_TRIP 0x2u
unsigned bp_content_look(const struct bp_cuda_copy *copy);
void bp_content_apply(struct bp_slot *slot);
/* For a copy without a slot. */
void bp_content_count(struct bp_transfer *transfer, unsigned content, uint64_t bytes,
                      uint64_t time);

/* What comes to the host has its content after the next synchronisation of the thread: then it is
 * looked at. `slot` 0: the transfer is known already. */
void bp_content_later(struct bp_cuda_thread *own, const struct bp_cuda_copy *copy, uint32_t slot,
                      uint32_t transfer);
void bp_content_settle(struct bp_cuda_thread *own);

#endif
