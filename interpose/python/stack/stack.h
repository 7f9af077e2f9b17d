/* SPDX-License-Identifier: MIT
 *
 * The Python frames of the calling thread, read in a signal handler. They are the thread's own, so
 * nobody changes them meanwhile, but it may itself have been in the middle of a change: loads are
 * safe and every code object is known by its type. The interpreter may be any build of 3.8 to 3.15.
 */
#ifndef BP_INTERPOSE_PYTHON_STACK_STACK_H
#define BP_INTERPOSE_PYTHON_STACK_STACK_H

#include "interpose/base/safe.h"

#define BP_PY_STACK_DEPTH 512 /* frames that are kept, the innermost ones */
#define BP_PY_STACK_CACHE 512

/* What is known of a place in a code object. The check tells an address that was used again. */
struct bp_py_stack_known {
    uint64_t code;
    uint64_t check;
    uint32_t place;
    uint32_t func;
    uint32_t line;
    uint32_t generation;
};

struct bp_py_stack_frame {
    uint64_t code;
    uint64_t check;
    uint64_t globals;
    uint32_t place; /* bytes from the first instruction */
    uint32_t entry; /* C code called the interpreter for this one */
};

/* A thread's memory. */
struct bp_py_stack {
    struct bp_py_stack_frame frames[BP_PY_STACK_DEPTH]; /* innermost first */
    uint32_t count;
    uint32_t cut; /* there were more */
    char name[512], plain[512], file[512], module[256];
    struct bp_py_stack_known known[BP_PY_STACK_CACHE];
};

/* Look for CPython in the process; at slow moments, until it is found. 1: it has just been found,
 * and its frames can be read. -1: they cannot, for `reason`. 0: nothing is new. */
int bp_py_stack_find(const char **reason);

/* Whether `pc` is in the interpreter: in its evaluation function; anywhere in its object. */
int bp_py_stack_is_eval(uint64_t pc);
int bp_py_stack_is_inside(uint64_t pc);

/* The frames, without their names. 0: there are none; -1: they make no sense. */
int bp_py_stack_read(struct bp_py_stack *python, struct bp_safe *safe);

/* The function and line of a frame. 0 if its code object makes no sense. */
int bp_py_stack_name(struct bp_py_stack *python, struct bp_safe *safe,
                     const struct bp_py_stack_frame *frame, uint32_t *func, uint32_t *line);

#endif
