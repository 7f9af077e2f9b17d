/* SPDX-License-Identifier: MIT
 *
 * Before 3.11 a code object does not know which class or function it is in. A module's code does,
 * before it runs: what is nested in it is noted here, by file, line and name, for all who have
 * nothing but the code object later.
 */
#ifndef BP_INTERPOSE_PYTHON_STACK_QUALNAMES_H
#define BP_INTERPOSE_PYTHON_STACK_QUALNAMES_H

#include <stddef.h>
#include <stdint.h>

/* A key of a function; `file` is bp_py_qualnames_file() of its file. */
uint64_t bp_py_qualnames_file(const char *file);
uint64_t bp_py_qualnames_key(uint64_t file, uint32_t line, const char *plain);

/* Keeps a prefix, "Grid." or "solve.<locals>.", for as long as the process lives. Two texts are put
 * together. NULL without memory. */
const char *bp_py_qualnames_keep(const char *a, const char *b);

/* The function's name begins with a kept prefix. */
void bp_py_qualnames_note(uint64_t key, const char *prefix);

/* What the name begins with, "" if nothing is known. From a signal handler, too. */
const char *bp_py_qualnames_get(uint64_t key);

#endif
