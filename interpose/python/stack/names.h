/* SPDX-License-Identifier: MIT
 *
 * Python functions by what they are called: (file, first line, name). The profile has each of them
 * once, whether a call of it was intercepted or a sample met it, and however often its code object
 * is made anew.
 */
#ifndef BP_INTERPOSE_PYTHON_STACK_NAMES_H
#define BP_INTERPOSE_PYTHON_STACK_NAMES_H

#include <stdint.h>

#define BP_PY_NO_NAME UINT32_MAX

/* The ledger announced a function; `name` may be qualified: its last part counts. `module` is the
 * __name__ of its globals. */
void bp_py_names_note(const char *file, uint32_t line, const char *name, const char *module,
                      uint32_t func);

/* A function as a sample meets it. */
struct bp_py_names_function {
    const char *file;
    uint32_t line;
    const char *name;   /* qualified; NULL: the code object does not say, before 3.11 */
    const char *plain;  /* the last part of it */
    const char *module; /* __name__ of its globals, "" if unknown */
};

/* The function's index in the profile, announced if it is new. From a signal handler, too: takes
 * the process lock. */
uint32_t bp_py_names_get(const struct bp_py_names_function *function);

/* Changes whenever the ledger has announced one: what was found before may have another index. */
uint32_t bp_py_names_generation(void);

/* Around fork. */
void bp_py_names_before_fork(void);
void bp_py_names_after_fork(void);

#endif
