/* SPDX-License-Identifier: MIT
 *
 * Objects of CPython, read in a signal handler: every load is safe, and an object is what its type
 * says. Another thread may change a dictionary meanwhile, and so free what belongs to it, which is
 * copied; then there is no answer, or an old one.
 */
#ifndef BP_INTERPOSE_PYTHON_STACK_VALUES_H
#define BP_INTERPOSE_PYTHON_STACK_VALUES_H

#include <stddef.h>

#include "interpose/base/safe.h"
#include "interpose/python/layout.h"

static inline uint64_t bp_py_value_word(uint64_t address, unsigned offset) {
    return *(const uint64_t *)(address + offset);
}

int bp_py_value_is_code(struct bp_safe *safe, uint64_t object);

/* A text as UTF-8, cut if it is longer than fits. 0 if it makes no sense. */
int bp_py_value_text(const struct bp_layout *layout, struct bp_safe *safe, uint64_t object,
                     char *to, size_t size);

/* __name__ of a module's globals. 0 if there is none. */
int bp_py_value_module(const struct bp_layout *layout, struct bp_safe *safe, uint64_t globals,
                       char *to, size_t size);

#endif
