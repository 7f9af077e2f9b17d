/* SPDX-License-Identifier: MIT
 *
 * The CUDA collector inside the target: it is told of CUDA calls by their stubs, starts CUPTI at
 * the first of them, and folds calls and device records into the profile (docs/cuda.md).
 *
 *     target's threads   enter, leave    -> queue of the thread, slots of awaited work
 *     CUPTI's thread     buffers         -> works, when they are complete
 *     our thread         once a second   -> flush, drain the queues, attribute, write sums
 *
 * One lock guards the second and third; a target's thread takes it only when its queue is full.
 */
#ifndef BP_CUDA_COLLECTOR_H
#define BP_CUDA_COLLECTOR_H

/* Announce the CUDA libraries, before the first object scan. `mode` is full, transfers, wrappers or
 * off, or NULL for full; `hash` says whether contents of copies are compared. */
void bp_cuda_init(const char *mode, int hash);

/* The driver calls this when it starts, if CUDA_INJECTION64_PATH names our library. */
int InitializeInjection(void) __attribute__((visibility("default")));

#endif
