/* SPDX-License-Identifier: MIT
 *
 * Which functions and ranges are tasks, phases and samples: the rules of BATTPROF_TASKS, entries
 * separated by semicolons, or our own where there are none of a kind:
 *
 *     task=[WHERE:]FUNCTION[(ARGUMENT)]   phase=NAME=[WHERE:]FUNCTION   sample=[WHERE:]FUNCTION
 *     generator=[WHERE:]FUNCTION
 *
 * FUNCTION and WHERE are globs. WHERE names libraries if it begins with "lib" or has ".so" in it,
 * NVTX ranges if it is "nvtx", else Python modules. ARGUMENT, which tells tasks apart, is a number
 * from 1 on or, in Python, a parameter's name. `task=none` and its like: none of that kind.
 */
#ifndef BP_INTERPOSE_TASK_RULES_H
#define BP_INTERPOSE_TASK_RULES_H

#include <stdint.h>

/* What the rules say of some functions; small numbers name them. */
struct bp_task_role {
    uint16_t flags;            /* BP_FUNC_TASK, _PHASE, _SAMPLE, _INPUT */
    uint8_t argument;          /* number of the argument; 0: by name, or guess */
    const char *argument_name; /* "" without */
    const char *phase;         /* "" without */
    const char *glob;          /* that made it a task; "" if its name did */
};

enum bp_task_world { BP_TASK_NATIVE, BP_TASK_PYTHON, BP_TASK_RANGE };

/* Read the rules; NULL: our own. */
void bp_task_rules_init(const char *text);

/* Whether a file is the user's own: not one that came with the system or with Python. Our own rules
 * hold there only; functions called solve_something are common. */
int bp_task_is_own_file(const char *path);

/* The role of a function or range, -1: none. `where` and `alias` are the names of its library or
 * module. `at_home`: our own rules hold here. */
int bp_task_role_of(enum bp_task_world world, const char *where, const char *alias,
                    const char *name, int at_home);

/* Whether a Python function of that name may have a role, in whatever module; and whether there are
 * any rules but our own. */
int bp_task_may_name(const char *name, int at_home);
int bp_task_rules_given(void);

const struct bp_task_role *bp_task_role(unsigned number);

/* Names without wildcards that native functions may have in any library, one after the other; NULL
 * at the end. And whether a rule of the user's has wildcards. */
const char *bp_task_rules_name(unsigned number);
int bp_task_rules_wild(void);

#endif
