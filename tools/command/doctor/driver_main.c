/* SPDX-License-Identifier: MIT
 *
 * A program of its own: prints what driver.c finds. It has no main, because the code that calls a
 * main would need the glibc of the machine that it was built on.
 */
#include <stdio.h>
#include <unistd.h>

#include "tools/command/doctor/driver.h"

_Noreturn void _start(void);

/* The stack is as the kernel leaves it, not as after a call. */
__attribute__((force_align_arg_pointer)) void _start(void) {
    struct bp_driver driver;
    bp_driver_ask(&driver);
    dprintf(STDOUT_FILENO, "%d %d %d\n", driver.state, driver.version, driver.devices);
    _exit(0);
}
