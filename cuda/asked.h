/* SPDX-License-Identifier: MIT
 *
 * Copies by what their calls tell, as long as they have no record.
 */
#ifndef BP_CUDA_ASKED_H
#define BP_CUDA_ASKED_H

#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/thread.h"

/* By the calling thread when a call begins (0: it is not counted), and when it has succeeded. */
uint32_t bp_asked_get(struct bp_cuda_thread *own, const struct bp_cuda_call *call);
void bp_asked_count(uint32_t asked, uint64_t bytes);
/* With the lock held: a record has come. `slot` is NULL if it was used again. */
void bp_asked_meet(struct bp_slot *slot, const struct bp_work_record *work);

#endif
