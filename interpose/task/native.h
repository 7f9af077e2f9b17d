/* SPDX-License-Identifier: MIT
 *
 * Native functions that are tasks, phases or samples, as a source of calls
 * (interpose/hook/source.h).
 */
#ifndef BP_INTERPOSE_TASK_NATIVE_H
#define BP_INTERPOSE_TASK_NATIVE_H

#include <stdint.h>

/* Read the rules and announce the source, before the first object scan. */
void bp_task_init(const char *rules);

/* The kind of a stub for a function of that role. */
uint32_t bp_task_stub_kind(unsigned role);

#endif
