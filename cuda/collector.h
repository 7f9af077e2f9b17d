/* SPDX-License-Identifier: MIT
 *
 * The CUDA collector inside the target: the ledger reports CUDA calls to it; it starts CUPTI at
 * the first of them and folds calls and device records into the profile (docs/internals/cuda.md).
 *
 *     target's threads   enter, leave    -> queue of the thread, slots of awaited work
 *     CUPTI's thread     buffers         -> works, when they are complete
 *     our thread         every 10–250 ms -> flush, drain the queues, attribute, write sums
 *
 * One lock guards the second and third; a target's thread takes it only when its queue is full.
 */
#ifndef BP_CUDA_COLLECTOR_H
#define BP_CUDA_COLLECTOR_H

/* Announce the CUDA libraries, before the first object scan. `mode` is full, transfers, wrappers or
 * off; `hash` says whether contents of copies are compared. */
void bp_cuda_init(const char *mode, int hash);

/* The driver calls this when it starts, if CUDA_INJECTION64_PATH names our library. */
int InitializeInjection(void) __attribute__((visibility("default")));

#endif
