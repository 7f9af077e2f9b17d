/* SPDX-License-Identifier: MIT
 *
 * CUDA calls, as the ledger reports them (struct bp_guest).
 */
#ifndef BP_CUDA_CALLS_H
#define BP_CUDA_CALLS_H

#include "interpose/ledger/thread.h"

void bp_cuda_enter(struct bp_thread *thread, struct bp_entry *entry, unsigned class,
                   const struct bp_registers *arguments);
void bp_cuda_leave(struct bp_thread *thread, struct bp_entry *entry, unsigned class, uint64_t now,
                   const uint64_t *result);

#endif
