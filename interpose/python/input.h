/* SPDX-License-Identifier: MIT
 *
 * What a call of a Python function is given, all of it as one text: the same text is the same
 * input, in every process. Runs with the GIL held and calls no code of the program: it knows exact
 * str, bytes, int, bool, None and tuples of them. Whether other values are the same as before is
 * unknown.
 */
#ifndef BP_INTERPOSE_PYTHON_INPUT_H
#define BP_INTERPOSE_PYTHON_INPUT_H

#include "interpose/ledger/task.h"

struct bp_py_call {
    void *code;
    void *frame; /* with its local variables at `locals`; NULL: the present one, asked by name */
    unsigned locals;
};

/* An argument by its place: a new reference, NULL without. */
void *bp_py_argument(const struct bp_py_call *call, long index);

/* 0: there are no arguments, or values of other kinds among them. */
int bp_py_input_print(const struct bp_py_call *call, char text[BP_TASK_TEXT]);

#endif
