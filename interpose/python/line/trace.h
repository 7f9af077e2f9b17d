/* SPDX-License-Identifier: MIT
 *
 * CPython 3.8 to 3.11: line events of single frames. CPython calls a trace function for every frame
 * of a thread or for none, so evaluate.c has it switched on while a chosen frame is the innermost
 * one, and off while what that calls is running.
 */
#ifndef BP_INTERPOSE_PYTHON_LINE_TRACE_H
#define BP_INTERPOSE_PYTHON_LINE_TRACE_H

#include "interpose/python/line/counts.h"

/* Finds out whether a thread's state is as the version has it, with the GIL held. Without it no
 * lines are counted. */
void bp_py_trace_start(int minor);

/* The present thread; NULL where lines cannot be counted. */
void *bp_py_trace_thread(void *tstate);

/* The chosen frame is about to run, switched off yet. NULL: another tool traces. */
struct bp_py_stretch *bp_py_trace_begin(void *tstate, struct bp_py_lines *lines, void *frame,
                                        struct bp_entry *entry, int resumed);

/* Whether the innermost frame of the thread has events. */
int bp_py_trace_is_on(const void *tstate);

/* Events on or off, for a frame that has begun. `on` does nothing while another tool traces. */
void bp_py_trace_on(void *tstate);
void bp_py_trace_off(void *tstate);

#endif
