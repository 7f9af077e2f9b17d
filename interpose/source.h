/* SPDX-License-Identifier: MIT
 *
 * How a part of the profiler that is not a library of functions (CUDA, Python) takes part in the
 * ledger: it opens and closes calls of its own in the calling thread, among the native ones.
 */
#ifndef BP_INTERPOSE_SOURCE_H
#define BP_INTERPOSE_SOURCE_H

#include "interpose/thread.h"

/* Where a function comes from; strings may be NULL. */
struct bp_source_function {
    const char *name;
    const char *module;
    const char *file;
    uint32_t line;
    uint16_t kind; /* enum bp_func_kind */
};

/* Announce a function to the profile. Its handle, which lives as long as the process; NULL when
 * there are too many functions or no memory. Takes the process lock: once per function. */
struct bp_stub *bp_source_function(const struct bp_source_function *function);

/* Open a call in the calling thread. `sp` is a place on the stack that is popped before the call
 * is over (the address of a local variable of the caller's frame), or 0 if the call has no stack
 * frame of its own: then it counts as nested directly in what is open. NULL: not recorded. */
struct bp_entry *bp_source_enter(struct bp_stub *function, uint64_t sp);

/* Close it, on the thread that opened it. NULL is allowed. */
void bp_source_leave(struct bp_entry *entry);

#endif
