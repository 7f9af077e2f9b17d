/* SPDX-License-Identifier: MIT
 *
 * Which Python functions are measured call by call. BATTPROF_DSL holds patterns
 * (profile/pattern.h), BATTPROF_PYTHON globs of module names, separated by commas; without either
 * module `dsl`, its submodules and any file dsl.py are chosen. Functions of other modules can be
 * counted one by one: see interpose/process/count.h.
 */
#ifndef BP_INTERPOSE_PYTHON_CHOOSE_H
#define BP_INTERPOSE_PYTHON_CHOOSE_H

#include <stdint.h>

#include "profile/pattern.h"

enum bp_py_mode {
    BP_PY_NONE, /* leave Python alone */
    BP_PY_CHOSEN,
    BP_PY_ALL /* every Python function gets a frame */
};

/* Read the settings; NULL where a variable is not set. */
enum bp_py_mode bp_py_choose_init(const char *dsl, const char *globs, const char *all);

/* A function, or without its name any function of the module. The module's name is that of
 * interpose/python/module.h. */
int bp_py_choose(const struct bp_pattern_python *function);

/* Functions that count for themselves, "module:qualname" or "module", both globs. For count.c.
 * `nested`: with the functions, lambdas and comprehensions in them. */
void bp_py_choose_count(const char *pattern, uint16_t flags, int nested);

/* Whether there are some whose lines are counted. */
int bp_py_choose_has_lines(void);

/* What such patterns say of a function, 0: nothing. Without its name: of any. */
uint16_t bp_py_choose_counted(const struct bp_pattern_python *function);

/* Before a module's name is known: whether code of that file may be chosen or counted. */
int bp_py_choose_maybe(const char *file);

/* "dsl" of "/a/dsl.py" and of "/a/dsl/__init__.py". */
void bp_py_stem(const char *file, char *stem, unsigned size);

#endif
