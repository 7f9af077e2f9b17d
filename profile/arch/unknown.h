/* SPDX-License-Identifier: MIT
 *
 * A CPU that the library does not run on. The command does, and reads what was recorded elsewhere;
 * a wall page is used by one process at a time there.
 */
#ifndef BP_PROFILE_ARCH_UNKNOWN_H
#define BP_PROFILE_ARCH_UNKNOWN_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

static inline long bp_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -errno : result;
}

static inline uint64_t bp_clock_tsc(void) {
    return 0;
}

static inline int bp_clock_tsc_invariant(void) {
    return 0;
}

static inline int bp_exchange_pair(void *at, uint64_t *a, uint64_t *b, uint64_t new_a,
                                   uint64_t new_b) {
    uint64_t *words = at;
    *a = words[0];
    *b = words[1];
    words[0] = new_a;
    words[1] = new_b;
    return 1;
}

#endif
