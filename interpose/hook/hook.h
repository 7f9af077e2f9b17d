/* SPDX-License-Identifier: MIT
 *
 * What is intercepted: a map from the address of a function to the code that calls go to instead,
 * a stub or a C wrapper. Keyed by address, because the same name may be defined twice and the same
 * function have two names. Filled while objects are loaded, under one lock; never on a call.
 */
#ifndef BP_INTERPOSE_HOOK_HOOK_H
#define BP_INTERPOSE_HOOK_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/hook/wrap.h"
#include "interpose/ledger/thread.h"

/* What to hook: "lib*.so*" or "lib.so:sym*", separated by commas or white space. `flags` go with
 * such functions into the profile. */
void bp_hook_patterns(const char *patterns, uint16_t flags);

/* Patterns that BATTPROF_DSL gives (profile/pattern.h): its functions are chosen ones. */
void bp_hook_dsl(const char *patterns);

/* 0: leave blocking calls and file I/O alone. */
extern int bp_hook_waits __attribute__((visibility("hidden")));

/* A function of no library: the root of threads. Its index. */
uint32_t bp_hook_function(const char *name, uint16_t kind);

/* Announce wrappers, before the first bp_object_scan. The table is kept, not copied. */
void bp_hook_wraps(const struct bp_wrap *wraps, size_t count);

/* A stub for a function that no slot leads to, for wrappers: NULL when there are none left. Of the
 * function the profile says `flags`. */
void *bp_hook_stub(void *target, const char *name, enum bp_stub_kind kind, uint16_t flags);

/* After the first scan: tell the profile which objects the targets of such stubs are in. */
void bp_hook_place_stubs(void);

/* What a pointer to a function should be: its stub or wrapper, else itself. */
void *bp_hook_pointer(void *function);

/* For object.c and source.c, with the lock held. */
struct bp_hook {
    uint64_t address; /* 0: free */
    uint64_t code;    /* 0: wanted, no slot leads to it yet */
    const char *name;
    uint32_t object;
    uint32_t kind; /* enum bp_stub_kind, source and tag; BP_HOOK_STAYS of a wrapper */
};
#define BP_HOOK_STAYS 0xfu /* slots lead to it while recording is paused, too */
extern struct bp_lock bp_hook_lock __attribute__((visibility("hidden")));
struct bp_elf;
int bp_hook_wants_library(const char *path, const char *soname);
uint32_t bp_hook_add_exports(const struct bp_elf *elf, const char *path, uint32_t object);
void bp_hook_add_runtime(const struct bp_elf *elf, uint32_t object);
int bp_hook_wants_symbol(const char *name); /* 0: never to be hooked */
struct bp_hook *bp_hook_find(uint64_t address);
int bp_hook_add(uint64_t address, const char *name, uint32_t object, uint32_t kind, void *code);
void bp_hook_add_wraps(const struct bp_elf *elf, uint32_t object, const struct bp_wrap *wraps,
                       size_t count);
uint64_t bp_hook_code(struct bp_hook *hook);
/* Whether a function of that name may be in the map; names other than its first are told here. */
int bp_hook_may_name(const char *name);
void bp_hook_note_name(const char *name);
void bp_hook_forget(uint64_t low, uint64_t high);
/* A new function of the profile: its index. With signals blocked. */
struct bp_source_function;
uint32_t bp_hook_new_function(const struct bp_source_function *what, uint32_t object,
                              uint64_t address);

#endif
