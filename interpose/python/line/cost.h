/* SPDX-License-Identifier: MIT
 *
 * What it costs here to count a line: cost.c for lines.
 */
#ifndef BP_INTERPOSE_PYTHON_LINE_COST_H
#define BP_INTERPOSE_PYTHON_LINE_COST_H

#include "interpose/python/cost.h"

/* Fills bp_py_line_cost, with the GIL held. `watch` switches the counting of a code object's lines
 * on and off; `instructions`: each instruction of a counted line has a cost, too. */
void bp_py_line_cost_measure(bp_py_watch *watch, int instructions);

#endif
