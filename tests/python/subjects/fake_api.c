/* SPDX-License-Identifier: MIT
 *
 * The rest of what the profiler looks for in CPython: names that all lead to one function that does
 * nothing. Weak, so that fake_python.c can have better ones.
 */
long fake_nothing(void);

__attribute__((used)) long fake_nothing(void) {
    return 0;
}

/* clang-format off */
#define NEED(type, name, arguments) __asm__(".weak " #name "\n.type " #name ", @function\n.set " #name ", fake_nothing\n");
#define MAY(type, name, arguments) NEED(type, name, arguments)
/* clang-format on */
#include "interpose/python/api.def"
