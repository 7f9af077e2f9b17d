/* SPDX-License-Identifier: MIT
 *
 * Modules that were loaded before anybody told us: their functions are looked for in the module and
 * in its classes.
 */
#ifndef BP_INTERPOSE_PYTHON_LOADED_H
#define BP_INTERPOSE_PYTHON_LOADED_H

/* The functions of the module of that name and globals, for version 3.`minor`: before 3.11 they get
 * their qualified names, from 3.12 on their events. With the GIL held; runs no code of the program.
 */
void bp_py_loaded_visit(void *globals, const char *name, int minor);

#endif
