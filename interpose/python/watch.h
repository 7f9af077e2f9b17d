/* SPDX-License-Identifier: MIT
 *
 * With sys.monitoring: which code objects are worth events. Those of chosen modules are known when
 * the module is executed; functions of other modules when DSL code calls them, or can reach them
 * through a global name without a call instruction (operators, isinstance, callbacks).
 */
#ifndef BP_INTERPOSE_PYTHON_WATCH_H
#define BP_INTERPOSE_PYTHON_WATCH_H

#include "interpose/python/code.h"

/* 0, or -1 when Python does not answer as expected. */
int bp_py_watch_init(enum bp_py_mode mode);

/* A module's code begins to run. 1: it is a chosen one. */
int bp_py_watch_module(void *code, void *globals);

/* It has ended: its globals are complete. */
void bp_py_watch_globals(void *globals);

/* A function that exists already: itself and what is nested in it, where that counts. */
void bp_py_watch_existing(void *code, void *globals);

/* DSL code has `value` at hand and may call it: a function of Python, or a method. */
void bp_py_watch_reachable(void *value);

/* DSL code calls `callable`. 1: what is called from that place will always be this. */
int bp_py_watch_call(struct bp_py_code *caller, void *callable);

#endif
