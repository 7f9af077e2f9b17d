/* SPDX-License-Identifier: MIT
 *
 * Native stacks of a stopped thread of another process, by libunwind-ptrace where that is
 * installed.
 */
#ifndef BP_TOOLS_LIVE_UNWIND_H
#define BP_TOOLS_LIVE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bp_unwound {
    uint64_t address; /* where the frame goes on */
    bool signal;      /* a signal interrupted the frame beyond */
};

/* Addresses of libbattprof.so in the process; none: 0, 0. */
struct bp_unwind_range {
    uint64_t low, high;
};

/* NULL, or why there are no native stacks. */
const char *bp_unwind_init(void);

/* Innermost first; how many there are. */
size_t bp_unwind(pid_t tid, const struct bp_unwind_range *ours, struct bp_unwound *frames,
                 size_t most);

#endif
