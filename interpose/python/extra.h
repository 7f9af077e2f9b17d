/* SPDX-License-Identifier: MIT
 *
 * A word of ours with each code object, and a call when CPython frees it (co_extra).
 */
#ifndef BP_INTERPOSE_PYTHON_EXTRA_H
#define BP_INTERPOSE_PYTHON_EXTRA_H

/* `freed` gets the word of a code object that is freed. 0 or -errno. */
int bp_py_extra_init(void (*freed)(void *word));

/* 0 or -errno; no exception is left behind. */
int bp_py_extra_set(void *code, void *word);

#endif
