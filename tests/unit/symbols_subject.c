/* SPDX-License-Identifier: MIT
 *
 * A library whose functions are looked up by address: exported, hidden, with a C++ name, with a
 * clone's suffix, and one that is inlined with a label in its middle.
 */
#include <stdio.h>

#define KEPT __attribute__((noinline, used))

/* Line numbers of the two marks, for the test. */
enum { INLINED_LINE = 16, CALL_LINE = 22 };
const int subject_lines[] = {INLINED_LINE, CALL_LINE};

static inline __attribute__((always_inline)) int inlined_part(int x) {
    int y = x * 7;
    __asm__ volatile(".globl subject_mark\nsubject_mark: nop" : "+r"(y));
    return y + 1;
}

KEPT int subject_outer(int x);
KEPT int subject_outer(int x) {
    int y = inlined_part(x);
    return y * y;
}

KEPT static int hidden_one(int x) {
    __asm__ volatile("");
    return x + 1;
}

KEPT int fill_grid(int x) __asm__("_ZN5grids4fillEi");
KEPT int fill_grid(int x) {
    return hidden_one(x) * 3;
}

KEPT int cold_part(int x) __asm__("subject_task.part.0");
KEPT int cold_part(int x) {
    return x - 9;
}

int subject_jumps(const char *text);
int subject_jumps(const char *text) {
    return puts(text);
}

void *const subject_functions[] = {(void *)subject_outer, (void *)hidden_one, (void *)fill_grid,
                                   (void *)cold_part};
