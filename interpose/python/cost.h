/* SPDX-License-Identifier: MIT
 *
 * What one measured Python call costs here, as calibrate.c does for native ones.
 */
#ifndef BP_INTERPOSE_PYTHON_COST_H
#define BP_INTERPOSE_PYTHON_COST_H

#include "interpose/python/code.h"

/* Measure it, with the GIL held. `watch` switches the measuring of a code object on and off;
 * `passed`: calls that are not measured have a cost, too. Does nothing while somebody traces or
 * profiles: it would see our calls. */
void bp_py_cost_measure(void (*watch)(struct bp_py_code *known, int on), int passed);

#endif
