/* SPDX-License-Identifier: MIT
 *
 * Which Python modules are measured call by call. BATTPROF_PYTHON holds globs of module names,
 * separated by commas; without it module `dsl`, its submodules and any file dsl.py are chosen.
 * Functions of other modules can be counted one by one: see interpose/count.h.
 */
#ifndef BP_INTERPOSE_PYTHON_CHOOSE_H
#define BP_INTERPOSE_PYTHON_CHOOSE_H

#include <stdint.h>

enum bp_py_mode {
    BP_PY_NONE, /* leave Python alone */
    BP_PY_CHOSEN,
    BP_PY_ALL /* every Python function gets a frame */
};

/* Read the settings; NULL where a variable is not set. */
enum bp_py_mode bp_py_choose_init(const char *globs, const char *all);

/* A module by its name, and the file of its code. */
int bp_py_choose(const char *module, const char *file);

/* Functions that count for themselves, "module:qualname" or "module", both globs. For count.c. */
void bp_py_choose_count(const char *pattern, uint16_t flags);

/* What such patterns say of a function, 0: nothing. A NULL qualname is any function's. */
uint16_t bp_py_choose_counted(const char *module, const char *file, const char *qualname);

/* Before a module's name is known: whether code of that file may be chosen or counted. */
int bp_py_choose_maybe(const char *file);

/* "dsl" of "/a/dsl.py" and of "/a/dsl/__init__.py". */
void bp_py_stem(const char *file, char *stem, unsigned size);

#endif
