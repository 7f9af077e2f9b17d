/* SPDX-License-Identifier: MIT
 *
 * How a part of the profiler that is not a library of functions (CUDA, Python) takes part in the
 * ledger: it opens and closes calls of its own in the calling thread, among the native ones, or is
 * told when functions of certain libraries are called.
 */
#ifndef BP_INTERPOSE_SOURCE_H
#define BP_INTERPOSE_SOURCE_H

#include <stddef.h>

#include "interpose/thread.h"

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

/* Open a call in the calling thread. `sp` is a place on the stack that is popped before the call
 * is over (the address of a local variable of the caller's frame), or 0 if the call has no stack
 * frame of its own: then it counts as nested directly in what is open. NULL: not recorded. */
struct bp_entry *bp_source_enter(struct bp_stub *function, uint64_t sp);

/* The same for a call that goes on after a pause (a generator): its time counts, the call does not.
 */
struct bp_entry *bp_source_resume(struct bp_stub *function, uint64_t sp);

/* Its source wants to be told when the call ends: `kind` is that of a stub. The call begins now. */
void bp_source_tell(struct bp_entry *entry, uint32_t kind);

/* Close it, on the thread that opened it, at `now`; 0: read the clock. NULL is allowed. */
void bp_source_leave(struct bp_entry *entry, uint64_t now);

/* Close it as left by an exception. NULL is allowed. */
void bp_source_abort(struct bp_entry *entry);

/* A CUDA call of that thread, which began then, took so much of which so much was transfer and
 * waiting for a kernel: for the tasks that it was in. One at a time. */
void bp_source_spent(uint32_t thread, uint64_t began, uint64_t time, uint64_t transfer,
                     uint64_t wait);

struct bp_wrap;

/* A copy as interpose/copy.h has them. */
struct bp_copy {
    unsigned tag;
    unsigned kind; /* the fourth argument, 1 to 3; 1 where it tells nothing */
    uint64_t bytes;
};

/* Where copies of a kind are counted, by their thread alone. */
struct bp_copy_sums {
    struct bp_transfer *transfer; /* NULL: nowhere, they have to be told */
    uint32_t number;              /* of the transfer in the profile, which has a split for it */
    uint32_t waits;               /* the time of the call is that of the copy */
    uint64_t *own;                /* ticks that we took from the caller */
    int direction;                /* enum bp_direction; negative if not known */
};

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
    uint16_t func_flags; /* of its functions in the profile */
    /* 1 for a tag of which the source is not told: as calls of any library. NULL: of all. */
    int (*is_plain)(unsigned tag);
    /* What bp_copy_stub says for a tag whose calls are copies as interpose/copy.h has them; else 0.
     * NULL: of all. */
    uint32_t (*copy_kind)(unsigned tag);
    /* The call is open, `entry` its place; its time begins when this returns. */
    void (*enter)(struct bp_thread *thread, struct bp_entry *entry, unsigned tag,
                  const struct bp_registers *arguments);
    /* It is over since `now`. `result` is NULL if it was left by longjmp or an exception. */
    void (*leave)(struct bp_thread *thread, struct bp_entry *entry, unsigned tag, uint64_t now,
                  const uint64_t *result);
    /* A copy, over since `now`, was not known again: counts it, and says where the next one is to
     * be counted. */
    void (*copied)(struct bp_thread *thread, struct bp_entry *entry, const struct bp_copy *copy,
                   uint64_t now, struct bp_copy_sums *to);
    /* dlopen did not find one of its libraries. */
    void (*missing)(const char *path);
};

/* From `enter`: the call copies so many bytes in that direction, negative if it does not say. Keeps
 * one stack per call path and direction; what counts it, or NULL. */
struct bp_sample *bp_source_site(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction);

/* From `copy_kind`: which arguments, counted from 0 and not the first two, are the size of a copy
 * in bytes, or its width and height, and which one tells the direction, as cudaMemcpyKind has it.
 */
#define BP_COPY_NO_ARGUMENT 15u
uint32_t bp_copy_stub(unsigned width, unsigned height, unsigned kind);

/* From `leave`, of a source that has `copied`: from now on this thread's copies can be known again.
 */
void bp_source_know_copies(struct bp_thread *thread);

#define BP_SOURCES 4
extern const struct bp_source *bp_sources[BP_SOURCES] __attribute__((visibility("hidden")));

/* Announce a source, before the first object scan. It is kept, not copied. */
void bp_source_add(const struct bp_source *source);

/* The pointer that a function of that name should be reached by, for libraries that hand out
 * addresses by name: a stub if a source wants the name, else what bp_hook_pointer says. */
void *bp_source_pointer(const char *name, void *function);

/* For loader.c: dlopen found nothing. */
void bp_source_missing(const char *path);

/* For object.c, with the hook lock held. */
struct bp_elf;
int bp_source_wants_library(const char *soname);
int bp_source_leaves_alone(const char *soname);
uint32_t bp_source_add_exports(const struct bp_elf *elf, uint32_t object);

#endif
