/* SPDX-License-Identifier: MIT
 *
 * Calls that are tasks, phases or samples, by their roles (interpose/task_rules.h).
 */
#ifndef BP_INTERPOSE_TASK_CALL_H
#define BP_INTERPOSE_TASK_CALL_H

#include "interpose/source.h"

struct bp_elf;

#define BP_TASK_ROLES 128

/* By role: number of the argument that is the id, 0: guess. Below stubs nothing else is needed. */
extern uint8_t bp_task_arguments[BP_TASK_ROLES] __attribute__((visibility("hidden")));
/* 1: no tasks, but recorded with what they are given. */
extern uint8_t bp_task_inputs[BP_TASK_ROLES] __attribute__((visibility("hidden")));
extern const struct bp_source bp_task_source __attribute__((visibility("hidden")));

/* Read the rules and announce the source, before the first object scan. */
void bp_task_init(const char *rules);

/* For object.c, with the hook lock held: hook the functions of an object that have a role. How many
 * there are. `at_home`: our own rules hold here. */
uint32_t bp_task_add_exports(const struct bp_elf *elf, uint32_t object, const char *path,
                             int at_home);

/* The kind of a stub for a function of that role, and the role of a kind; -1: none. */
uint32_t bp_task_stub_kind(unsigned role);
int bp_task_role_of_kind(uint32_t kind);

#endif
