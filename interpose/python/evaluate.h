/* SPDX-License-Identifier: MIT
 *
 * CPython 3.8 to 3.11: every Python frame is run through a function of ours (PEP 523), which opens
 * a call around those that count.
 */
#ifndef BP_INTERPOSE_PYTHON_EVALUATE_H
#define BP_INTERPOSE_PYTHON_EVALUATE_H

/* Switch it on, in the main interpreter with the GIL held. `minor` is that of the version. NULL, or
 * why not, in words. */
const char *bp_py_evaluate_start(int minor);

/* While recording is paused CPython's own function is in place. Also without the GIL, as long as
 * the interpreter is there. */
void bp_py_evaluate_switch(void);

#endif
