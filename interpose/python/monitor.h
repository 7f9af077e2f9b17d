/* SPDX-License-Identifier: MIT
 *
 * CPython 3.12 and later: sys.monitoring, with events switched on in the code objects that count
 * and nowhere else.
 */
#ifndef BP_INTERPOSE_PYTHON_MONITOR_H
#define BP_INTERPOSE_PYTHON_MONITOR_H

#include "interpose/python/code.h"

/* Take a tool id and register callbacks, with the GIL held. NULL, or why not, in words. */
const char *bp_py_monitor_start(int minor, enum bp_py_mode mode);

/* Code that is about to be executed: if it is a module's, find out which when it starts. */
void bp_py_monitor_module(void *code);

/* What is watched in a code object; 0 on success. For watch.c. */
#define BP_PY_START 0x1u
#define BP_PY_RETURN 0x2u
#define BP_PY_CALLS 0x4u
#define BP_PY_LINES 0x8u
int bp_py_monitor_set(struct bp_py_code *known, unsigned what);

/* Recording goes on: what fell asleep in the pause is switched on again. With the GIL held. */
void bp_py_monitor_wake(void);

#endif
