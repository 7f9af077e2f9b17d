/* SPDX-License-Identifier: MIT
 *
 * libunwind, opened and not linked: it exports the names of libgcc_s by which C++ throws, and a
 * program that is linked with it throws by it.
 */
#ifndef BP_TESTS_UNIT_REFEREE_H
#define BP_TESTS_UNIT_REFEREE_H

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdint.h>
#include <stdio.h>

#define REFEREE_FUNCTIONS(X)                                                                       \
    X(backtrace, unw_backtrace)                                                                    \
    X(getcontext, unw_tdep_getcontext)                                                             \
    X(init, unw_init_local2)                                                                       \
    X(step, unw_step)                                                                              \
    X(get_reg, unw_get_reg)

static struct {
#define X(name, function) __typeof__(function) *name;
    REFEREE_FUNCTIONS(X)
#undef X
} referee;

/* 1 if all is there. */
static inline int referee_open(void) {
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
#define TEXT(name) #name
#define X(member, function)                                                                        \
    if (!library || !(referee.member = dlsym(library, TEXT(function))))                            \
        return 0;
#define NAMED(member, function) X(member, function)
    REFEREE_FUNCTIONS(NAMED)
#undef NAMED
#undef X
#undef TEXT
    return 1;
}

/* The frames from there. Their number. */
static inline unsigned referee_walk(unw_context_t *from, int flags, uint64_t *frames,
                                    unsigned most) {
    unw_cursor_t cursor;
    unsigned count = 0;
    if (referee.init(&cursor, from, flags))
        return 0;
    do
        referee.get_reg(&cursor, UNW_REG_IP, &frames[count++]);
    while (count < most && referee.step(&cursor) > 0);
    return count;
}

#endif
