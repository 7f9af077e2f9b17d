/* SPDX-License-Identifier: MIT
 *
 * Calls and works until they are attributed. The lock is held.
 */
#ifndef BP_CUDA_WINDOW_H
#define BP_CUDA_WINDOW_H

#include "cuda/attribute.h"
#include "cuda/thread.h"

int bp_cuda_window_init(void);
void bp_cuda_window_work(const struct bp_work_interval *work);
void bp_cuda_drain(struct bp_cuda_thread *thread);
/* Attribute what is complete; `flushed` is when the last flush began. With `all` everything. */
void bp_cuda_fold(uint64_t flushed, int all);

#endif
