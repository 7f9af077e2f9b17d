/* SPDX-License-Identifier: MIT
 *
 * function(*arguments): 3.12 has no event for it where the function is Python's. What such code of
 * the DSL can call so is looked for among its arguments and in what it encloses, when it starts. In
 * containers, its arguments or global variables that it names, it is looked for at the first start,
 * the second, the fourth and so on: what comes into them later is found late.
 */
#ifndef BP_INTERPOSE_PYTHON_SPREAD_H
#define BP_INTERPOSE_PYTHON_SPREAD_H

#include "interpose/python/code.h"

/* The local variables of a frame of 3.12. */
#define BP_PY_LOCALS_312 72

/* Only with 3.12, and where frames are as we think. */
void bp_py_spread_start(void);

/* Whether the code has such calls: then `known->spreads` is set. */
void bp_py_spread_find(struct bp_py_code *known);

/* A call of the code begins in `frame`. */
void bp_py_spread_look(struct bp_py_code *known, void *frame);

#endif
