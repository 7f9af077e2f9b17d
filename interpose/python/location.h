/* SPDX-License-Identifier: MIT
 *
 * The line of an instruction of Python code, from the table of its code object.
 */
#ifndef BP_INTERPOSE_PYTHON_LOCATION_H
#define BP_INTERPOSE_PYTHON_LOCATION_H

#include "interpose/base/safe.h"
#include "interpose/python/layout.h"

/* `table` is the address of the bytes object, `place` the offset of the instruction in bytes,
 * `first` the function's first line. 0 if the instruction has no line. */
uint32_t bp_lines_find(const struct bp_layout *layout, struct bp_safe *safe, uint64_t table,
                       uint32_t place, uint32_t first);

#endif
