/* SPDX-License-Identifier: MIT
 *
 * Python functions in the ledger. CPython is recognised by its exports, in the executable or in a
 * library; nothing is switched on in it before a chosen module is imported.
 */
#ifndef BP_INTERPOSE_PYTHON_PYTHON_H
#define BP_INTERPOSE_PYTHON_PYTHON_H

/* Settings: BATTPROF_PYTHON and BATTPROF_PYTHON_ALL, NULL where they are not set. */
void bp_python_init(const char *globs, const char *all);

/* Objects were loaded: see whether CPython is among them. Cheap once it is found. */
void bp_python_look(void);

#endif
