/* SPDX-License-Identifier: MIT
 *
 * What one measured Python call costs here, as calibrate.c does for native ones.
 */
#ifndef BP_INTERPOSE_PYTHON_COST_H
#define BP_INTERPOSE_PYTHON_COST_H

#include "interpose/python/code.h"

/* What goes through our hands without being a call, in units of bp_node.passed: a call that is left
 * alone, a recorded step of a generator, and an audit event. A step that is left alone is 1. */
struct bp_py_weights {
    uint32_t call, resume, audit;
};
extern struct bp_py_weights bp_py_weights __attribute__((visibility("hidden")));

/* Switches the measuring of a code object on and off. */
typedef void bp_py_watch(struct bp_py_code *known, int on);

/* Measure it, with the GIL held. `steps`: those of a generator that are left alone have a cost,
 * too, as calls always have. */
void bp_py_cost_measure(bp_py_watch *watch, int steps);

/* Run a module's text and hand its globals to `take`, with what follows. The program's error is
 * kept. Does nothing while somebody traces or profiles: it would see our calls. */
typedef void bp_py_measure(void *globals, bp_py_watch *watch, int number);
void bp_py_cost_run(const char *text, bp_py_measure *take, bp_py_watch *watch, int number);

#endif
