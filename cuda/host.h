/* SPDX-License-Identifier: MIT
 *
 * Calls without device records.
 */
#ifndef BP_CUDA_HOST_H
#define BP_CUDA_HOST_H

#include "cuda/thread.h"

void bp_host_enter(struct bp_cuda_call *call);
void bp_host_leave(struct bp_cuda_thread *own, struct bp_cuda_call *call,
                   const struct bp_entry *entry, uint64_t now, const uint64_t *result);

#endif
