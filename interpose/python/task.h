/* SPDX-License-Identifier: MIT
 *
 * Python functions with a role in the rules for tasks (interpose/task/rules.h). All of it runs with
 * the GIL held and calls no code of the program: an id is a str, an int or bytes, nothing else.
 */
#ifndef BP_INTERPOSE_PYTHON_TASK_H
#define BP_INTERPOSE_PYTHON_TASK_H

#include "interpose/python/code.h"

/* Whether functions with a role may be among those that a module's code, or its dictionary, has. */
int bp_py_task_in_code(void *code);
int bp_py_task_in_globals(void *globals);

/* The role of a function, -1: none. */
int bp_py_task_role(const struct bp_pattern_python *function);

/* bp_source_function, but all functions of a module that one glob makes tasks (solve_*) are one
 * function in the tree, named by the glob. Each task is named by its own. */
struct bp_stub *bp_py_task_announce(const struct bp_py_code *known,
                                    struct bp_source_function *what);

/* The call of `entry`, just opened, is a task: find its id and begin it. `frame` is CPython's, with
 * its local variables at `locals`; NULL: the present one, asked by name (3.12 and later). */
void bp_py_task_begin(struct bp_entry *entry, struct bp_py_code *known, void *frame,
                      unsigned locals);

#endif
