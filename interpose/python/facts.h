/* SPDX-License-Identifier: MIT
 *
 * What the profile keeps of a Python program so that a report can tell the user's code from that of
 * others: where Python and its library are, and which modules were loaded.
 */
#ifndef BP_INTERPOSE_PYTHON_FACTS_H
#define BP_INTERPOSE_PYTHON_FACTS_H

/* Once it runs: sys.prefix and its like. With the GIL. */
void bp_py_facts_begin(void);

/* Code is about to be executed: a module's, a script's, a cell's, or any other. Its file's name. */
void bp_py_facts_exec(void *code, const char *file);

/* The audit event battprof.cell: (file, number), from the notebook's module. */
void bp_py_facts_cell(void *file, void *number);

#endif
