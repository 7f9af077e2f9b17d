/* SPDX-License-Identifier: MIT
 *
 * A note of the Python part for the reader of the report.
 */
#ifndef BP_INTERPOSE_PYTHON_NOTE_H
#define BP_INTERPOSE_PYTHON_NOTE_H

/* What the reader of the report must know, in the file's header; the first one stays. */
void bp_py_note(const char *text);

#endif
