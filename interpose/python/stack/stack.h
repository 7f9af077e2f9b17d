/* SPDX-License-Identifier: MIT
 *
 * The Python frames of the calling thread, read in a signal handler. They are the thread's own, so
 * nobody changes them meanwhile, but it may itself have been in the middle of a change: loads are
 * safe and every code object is known by its type. The interpreter may be any build of 3.8 to 3.13.
 */
#ifndef BP_INTERPOSE_SAMPLE_PYTHON_H
#define BP_INTERPOSE_SAMPLE_PYTHON_H

#include "interpose/sample/walk.h"

#define BP_PYTHON_CACHE 512

/* One more value in a hash of frames. */
static inline uint64_t bp_mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* What is known of a place in a code object. The check tells an address that was used again. */
struct bp_python_known {
    uint64_t code;
    uint64_t check;
    uint32_t place;
    uint32_t func;
    uint32_t line;
    uint32_t generation;
};

struct bp_python_frame {
    uint64_t code;
    uint64_t check;
    uint32_t place; /* bytes from the first instruction */
    uint32_t entry; /* C code called the interpreter for this one */
};

/* The same, as it is in memory. */
struct bp_python_step {
    uint64_t frame;
    uint64_t code; /* 0: the frame stands for a call from C */
    uint64_t instruction;
    uint64_t check;
};

/* A thread's memory. */
struct bp_python {
    struct bp_python_frame frames[BP_WALK_DEPTH]; /* innermost first */
    uint32_t count;
    uint32_t cut; /* there were more */
    char name[512], plain[512], file[512];
    struct bp_python_known known[BP_PYTHON_CACHE];
};

/* Look for CPython in the process; at slow moments, until it is found. */
void bp_python_find(void);

/* Whether `pc` is in the interpreter: in its evaluation function; anywhere in its object. */
int bp_python_is_eval(uint64_t pc);
int bp_python_is_inside(uint64_t pc);

/* The frames, without their names. 0: there are none; -1: they make no sense. */
int bp_python_read(struct bp_python *python, struct bp_safe *safe);

/* To know them again, when bp_python_read has found some and the thread is in a call: where they
 * are, what is in them. 0: there are more than `room`. */
uint32_t bp_python_steps(struct bp_python_step *steps, uint32_t room);

/* Whether the thread, in a call, has these frames and no others. */
int bp_python_is_at(const struct bp_python_step *steps, uint32_t count);

/* What CPython keeps of the calling thread; 0: nothing. */
uint64_t bp_python_state(void);

/* The function and line of a frame. 0 if its code object makes no sense. */
int bp_python_name(struct bp_python *python, struct bp_safe *safe,
                   const struct bp_python_frame *frame, uint32_t *func, uint32_t *line);

#endif
