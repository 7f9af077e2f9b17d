/* SPDX-License-Identifier: MIT
 *
 * Of the test's build of the library: whoever comes to the point that is armed stays there until it
 * is told to go. Reached below stubs: no libc, no vector registers.
 */
#include "profile/stop.h"

#include <time.h>

#include "profile/sys.h"

#define PAUSE_NS 100000

extern struct bp_stops *battprof_stops;
__attribute__((visibility("default"))) struct bp_stops *battprof_stops;

static void stay(struct bp_stops *stops) {
    struct timespec pause = {0, PAUSE_NS};
    __atomic_store_n(&stops->reached, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&stops->go, __ATOMIC_SEQ_CST))
        BP_SYS2(SYS_nanosleep, &pause, NULL);
}

void bp_stop_at(enum bp_stop_point point) {
    struct bp_stops *stops = battprof_stops;
    if (!stops)
        return;
    if (point == BP_STOP_CHILD) {
        struct bp_stops *child = stops + 1;
        if (__atomic_load_n(&child->point, __ATOMIC_SEQ_CST) == BP_STOP_CHILD + 1)
            stay(child);
    } else if (__atomic_load_n(&stops->point, __ATOMIC_SEQ_CST) == (uint32_t)point + 1 &&
               stops->thread != (int32_t)BP_SYS0(SYS_gettid) &&
               __atomic_exchange_n(&stops->point, 0, __ATOMIC_SEQ_CST)) {
        stay(stops);
    }
}

/* Where a new item begins: what the parent left there would be taken for the child's own. */
void bp_stop_unless_zero(const void *memory, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        if (((const char *)memory)[i])
            __builtin_trap();
}
