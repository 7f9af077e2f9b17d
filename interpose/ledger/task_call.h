/* SPDX-License-Identifier: MIT
 *
 * Calls that are tasks, phases or samples, by their roles (interpose/task/rules.h).
 */
#ifndef BP_INTERPOSE_LEDGER_TASK_CALL_H
#define BP_INTERPOSE_LEDGER_TASK_CALL_H

#include "interpose/ledger/thread.h"

#define BP_TASK_ROLES 128

/* By role: number of the argument that is the id, 0: guess. Below stubs nothing else is needed. */
extern uint8_t bp_task_arguments[BP_TASK_ROLES] __attribute__((visibility("hidden")));
/* 1: no tasks, but recorded with what they are given. */
extern uint8_t bp_task_inputs[BP_TASK_ROLES] __attribute__((visibility("hidden")));
extern uint8_t bp_task_phases[BP_TASK_ROLES] __attribute__((visibility("hidden")));

/* For struct bp_guest; the tag is the role. */
void bp_task_enter(struct bp_thread *thread, struct bp_entry *entry, unsigned tag,
                   const struct bp_registers *registers);
void bp_task_leave(struct bp_thread *thread, struct bp_entry *entry, unsigned tag, uint64_t now,
                   const uint64_t *result);

#endif
