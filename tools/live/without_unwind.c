/* SPDX-License-Identifier: MIT
 *
 * Where libunwind was not there to build with.
 */
#include "tools/live/unwind.h"

const char *bp_unwind_init(void) {
    return "this battprof was built without libunwind";
}

size_t bp_unwind(pid_t tid, const struct bp_unwind_range *ours, struct bp_unwound *frames,
                 size_t most) {
    (void)tid;
    (void)ours;
    (void)frames;
    (void)most;
    return 0;
}
