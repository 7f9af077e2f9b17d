/* SPDX-License-Identifier: MIT
 *
 * The time of imports, from the interpreter's start on: one function `importlib.import` in the
 * ledger, around the outermost import of a thread.
 */
#ifndef BP_INTERPOSE_PYTHON_IMPORT_H
#define BP_INTERPOSE_PYTHON_IMPORT_H

/* Python tells that it is about to import a module, or to execute `code` (NULL: to import). With
 * the GIL held, in the main interpreter, no exception set. */
void bp_py_import_expect(void *code);

#endif
