/* SPDX-License-Identifier: MIT
 *
 * What a module's code has in it, before it runs: how many functions, and before 3.11 what they are
 * called. Read from memory, for asking CPython for every attribute would take a hundred times as
 * long, and all modules of a program come here.
 */
#ifndef BP_INTERPOSE_PYTHON_NESTED_H
#define BP_INTERPOSE_PYTHON_NESTED_H

#include <stdint.h>

#define BP_NESTED_UNKNOWN UINT32_MAX

/* Functions, methods and lambdas in the code, which runs at the top of a file. With the GIL. */
uint32_t bp_py_nested_note(void *code);

/* The names of a function that exists already, and of what is nested in it. */
void bp_py_nested_name(void *code, const char *qualname);

#endif
