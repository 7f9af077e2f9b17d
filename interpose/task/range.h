/* SPDX-License-Identifier: MIT
 *
 * Ranges of code that the program itself announces: include/battprof.h and NVTX.
 */
#ifndef BP_INTERPOSE_TASK_RANGE_H
#define BP_INTERPOSE_TASK_RANGE_H

#include <stdint.h>

/* Begin an NVTX range: a task or phase by the rules, else a phase of that name. */
void bp_range_begin(const char *text, uint64_t key);

/* End the innermost range of the key in this thread; if there is none, in whatever thread. */
void bp_range_end(uint64_t key);

/* Announce the wrappers of libnvToolsExt, before the first object scan. */
void bp_nvtx_init(void);

#endif
