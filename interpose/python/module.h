/* SPDX-License-Identifier: MIT
 *
 * What a Python module is called, one name whoever asks: the ledger, which has the GIL, and the
 * sampler, which is in a signal handler. It is the name by which the module is imported, or would
 * be: a program that is run as __main__ has the name of its file, or the one that `python -m` was
 * given; a notebook's cell is In[7].
 */
#ifndef BP_INTERPOSE_PYTHON_MODULE_H
#define BP_INTERPOSE_PYTHON_MODULE_H

#include <stddef.h>

#define BP_MODULE_NAME 256

/* `given` is __name__ of the globals, "" if unknown; `file` that of the code. Writes the name, cut
 * if it is too long. Returns 1 for code of the program's own script or of a cell. */
int bp_module_name(const char *given, const char *file, char name[BP_MODULE_NAME]);

/* The file was run as __main__ and is imported by that name: `python -m`. With the GIL. */
void bp_module_note_main(const char *file, const char *name);

/* The file is the notebook's cell of that number. With the GIL. */
void bp_module_note_cell(const char *file, unsigned number);

/* A file that a notebook or IPython makes up for a cell. */
int bp_module_is_cell(const char *file);

#endif
