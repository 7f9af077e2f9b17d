/* SPDX-License-Identifier: MIT
 *
 * How a part of the profiler that is not a library of functions (CUDA, Python, tasks) takes part in
 * the ledger: it announces functions, whose calls it opens and closes itself (bp_thread_open), or
 * the ledger reports calls of certain libraries to it.
 */
#ifndef BP_INTERPOSE_HOOK_SOURCE_H
#define BP_INTERPOSE_HOOK_SOURCE_H

#include <stddef.h>

#include "interpose/hook/wrap.h"
#include "interpose/ledger/thread.h"

/* Where a function comes from; strings may be NULL. */
struct bp_source_function {
    const char *name;
    const char *module;
    const char *file;
    uint32_t line;
    uint16_t kind;  /* enum bp_func_kind */
    uint16_t flags; /* BP_FUNC_CUDA */
    const char *phase;
};

/* Announce a function to the profile. Its handle, which lives as long as the process; NULL when
 * there are too many functions or no memory. Takes the process lock: once per function. */
struct bp_stub *bp_source_function(const struct bp_source_function *function);

/* A CUDA call of that thread, which began then, took so much of which so much was transfer and
 * waiting for a kernel: for the tasks that it was in. One at a time. */
void bp_source_spent(uint32_t thread, uint64_t began, uint64_t time, uint64_t transfer,
                     uint64_t wait);

struct bp_elf;

/* A source of calls: some exports of some libraries. Its functions run below stubs, on the calling
 * thread, and may be ordinary C, because what they stand before takes no vector registers; errno
 * is theirs to keep. */
struct bp_source {
    const char *const *libraries; /* patterns of sonames whose exports are matched; NULL ends */
    const char *const *alone;     /* patterns of sonames whose own calls nobody looks at */
    int (*match)(const char *name, const char **known); /* tag of an export, below 65536, and a
                                                           lasting name for it; -1: leave it */
    const struct bp_wrap *wraps;                        /* functions of these libraries */
    size_t wrap_count;
    uint16_t function_flags; /* of its functions in the profile */
    /* 1 for a tag of which the source is not told: as calls of any library. NULL: of all. */
    int (*is_plain)(unsigned tag);
    /* From an object of any library: hook what the source wants of it; how many that is. `own`: the
     * object is the program itself, or hooked anyway. With the hook lock held. NULL: nothing. */
    uint32_t (*find)(const struct bp_elf *elf, uint32_t object, const char *path, int own);
    /* What the profile says of a tag's function beyond `function_flags`: its flags, its phase. Or
     * NULL.
     */
    void (*describe)(unsigned tag, struct bp_source_function *function);
    struct bp_guest calls;
    /* dlopen did not find one of its libraries. */
    void (*missing)(const char *path);
};

/* A function of the C runtime, for what must not be linked: dlopen, pthread_create. NULL if there
 * is none. */
void *bp_source_runtime(const char *name);

/* From `enter`: the call copies so many bytes in that direction, negative if it does not say. Keeps
 * one stack per call path and direction; what counts it, or NULL. */
struct bp_sample *bp_source_site(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction);

/* Who keeps these stacks: sample/, if it is there. */
typedef struct bp_sample *bp_source_sites(struct bp_thread *thread, const struct bp_entry *entry,
                                          uint64_t bytes, int direction);
void bp_source_set_sites(bp_source_sites *sites);

/* Announce a source, before the first object scan. It is kept, not copied. Its number, from 1 on.
 */
unsigned bp_source_add(const struct bp_source *source);

/* The pointer that a function of that name should be reached by, for libraries that hand out
 * addresses by name: a stub if a source wants the name, else what bp_hook_pointer says. */
void *bp_source_pointer(const char *name, void *function);

/* For loader.c: dlopen found nothing. */
void bp_source_missing(const char *path);

/* For object.c and hook.c, with the hook lock held; sources by their numbers. */
int bp_source_wants_library(const char *soname);
int bp_source_leaves_alone(const char *soname);
uint32_t bp_source_add_exports(const struct bp_elf *elf, uint32_t object);
uint32_t bp_source_find(const struct bp_elf *elf, uint32_t object, const char *path, int own);
void bp_source_describe(unsigned number, unsigned tag, struct bp_source_function *function);

#endif
