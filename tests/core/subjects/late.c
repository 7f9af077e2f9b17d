/* SPDX-License-Identifier: MIT
 *
 * A library that is only ever opened with dlopen; calls libdslwork through its own PLT. Built
 * under several names (LATE_NAME, COUNT_FIRST): libdsllate, the twins, the plain one.
 */
#define COUNT_LIBRARY LATE_NAME
#include "count.h"
#include "work.h"

#include <stdio.h>

enum { STEP, BOTH };

int late_step(int x);
int late_both(int x);

int late_step(int x) {
    ENTER(STEP);
    LEAVE(STEP);
    return x + LATE_OFFSET;
}

int late_both(int x) {
    ENTER(BOTH);
    int sum = work_add(x, 1) + late_step(x);
    LEAVE(BOTH);
    return sum;
}

#ifdef LATE_TALKS
/* Not hooked, so it must be unloaded when the program says so. */
__attribute__((destructor)) static void bye(void) {
    static const char text[] = "unloaded\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(3);
}
#endif
