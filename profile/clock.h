/* SPDX-License-Identifier: MIT
 *
 * The one clock of a profile. The time stamp counter where it is invariant and the kernel trusts
 * it (20 ns for two readings), else CLOCK_MONOTONIC by system call. All processes of a tree decide
 * alike, so their ticks compare.
 */
#ifndef BP_PROFILE_CLOCK_H
#define BP_PROFILE_CLOCK_H

#include <fcntl.h>
#include <time.h>

#include "profile/arch.h"
#include "profile/format.h"
#include "profile/sys.h"

static inline uint64_t bp_clock_ns(int id) {
    struct timespec t;
    BP_SYS2(SYS_clock_gettime, id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel falls back to these when it has found the counters of the CPUs out of step. */
static inline int bp_clock_kernel_distrusts_tsc(void) {
    char name[16] = "";
    long fd = BP_SYS3(SYS_openat, AT_FDCWD,
                      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    BP_SYS3(SYS_read, fd, name, sizeof name - 1);
    BP_SYS1(SYS_close, fd);
    return name[0] == 'h' /* hpet */ || name[0] == 'a' /* acpi_pm */ ||
           name[0] == 'j' /* jiffies */;
}

/* `wanted` is the value of BATTPROF_CLOCK, or NULL. */
static inline enum bp_clock bp_clock_kind(const char *wanted) {
    if (wanted && wanted[0] == 'm')
        return BP_CLOCK_MONOTONIC;
    if (bp_clock_tsc_invariant() && !bp_clock_kernel_distrusts_tsc())
        return BP_CLOCK_TSC;
    return BP_CLOCK_MONOTONIC;
}

static inline uint64_t bp_clock_now(uint32_t kind) {
    return kind == BP_CLOCK_TSC ? bp_clock_tsc() : bp_clock_ns(CLOCK_MONOTONIC);
}

static inline struct bp_clock_pair bp_clock_pair_now(uint32_t kind) {
    struct bp_clock_pair best = {0, 0, 0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 3; i++) { /* the reading least disturbed by an interrupt */
        uint64_t before = bp_clock_now(kind);
        uint64_t ns = bp_clock_ns(CLOCK_MONOTONIC);
        uint64_t after = bp_clock_now(kind);
        if (after - before < shortest) {
            shortest = after - before;
            best.ticks = before + (after - before) / 2;
            best.monotonic_ns = ns;
        }
    }
    best.realtime_ns = bp_clock_ns(CLOCK_REALTIME);
    return best;
}

#endif
