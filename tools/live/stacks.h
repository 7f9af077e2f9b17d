/* SPDX-License-Identifier: MIT
 *
 * `battprof stacks`: what each thread of a process is doing, in one look.
 */
#ifndef BP_TOOLS_LIVE_STACKS_H
#define BP_TOOLS_LIVE_STACKS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/base/error.h"

struct bp_stacks_settings {
    bool no_stop; /* do not use ptrace */
};

int bp_stacks_print(pid_t pid, const struct bp_stacks_settings *settings, FILE *out,
                    struct bp_error *error);

#endif
