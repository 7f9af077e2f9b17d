/* SPDX-License-Identifier: MIT
 *
 * CPython's functions as this process has them: in a static executable or in libpython3.x.so.
 */
#ifndef BP_INTERPOSE_PYTHON_API_H
#define BP_INTERPOSE_PYTHON_API_H

#include <stddef.h>

#include "interpose/hook/elf.h"

/* PyMemAllocatorEx. */
struct bp_py_allocator {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *memory, size_t size);
    void (*free)(void *context, void *memory);
};

struct bp_py_api {
#define NEED(type, name, arguments) type(*name) arguments;
#define MAY(type, name, arguments) type(*name) arguments;
#include "interpose/python/api.def"
#undef NEED
#undef MAY
};

extern struct bp_py_api bp_py __attribute__((visibility("hidden")));

/* Fill bp_py from the first object that exports CPython. 1: found and complete. */
int bp_py_api_find(void);

/* Where its state is, among it the GIL: the symbol _PyRuntime; size 0 if there is none. */
extern uint64_t bp_py_runtime, bp_py_runtime_size __attribute__((visibility("hidden")));

/* An attribute as text or number; no exception is left behind. The text is borrowed from `held`,
 * which the caller gives back with bp_py_drop. */
const char *bp_py_text(void *object, const char *attribute, void **held);
long bp_py_number(void *object, const char *attribute);
void bp_py_drop(void *object);

/* The exception that is being raised is put aside while we ask Python for something. */
struct bp_py_error {
    void *type, *value, *trace;
};
void bp_py_error_save(struct bp_py_error *error);
void bp_py_error_restore(struct bp_py_error *error);

/* Python code of ours runs in between, unseen by whoever traces, profiles or monitors (3.11). */
void bp_py_unseen_begin(void);
void bp_py_unseen_end(void);

/* Whether somebody would see it all the same: a trace or profile function, a monitoring tool. */
int bp_py_is_traced(void);

/* Whether the calling thread, which holds the GIL, runs the main interpreter. */
int bp_py_is_main(void);

/* Debug and free-threaded builds have other objects: what it is, in words; NULL for the usual. */
const char *bp_py_odd_build(void);

/* The function that runs a frame of the interpreter, as PEP 523 has it: NULL where it cannot be
 * told or set. */
void *bp_py_evaluator(void *interpreter);
void bp_py_evaluator_set(void *interpreter, void *function);

/* The type of an object: fixed in every release build. */
static inline void *bp_py_type(const void *object) {
    return ((void *const *)object)[1];
}

#endif
