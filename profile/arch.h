/* SPDX-License-Identifier: MIT
 *
 * What the two sides of a profile need of the CPU: system calls without libc, a counter that is
 * cheap to read, an exchange of 16 bytes. profile/ may not include interpose/, so it has folders
 * of its own; interpose/arch/ has the rest.
 *
 *     long bp_syscall6(number, a, b, c, d, e, f)        a value or -errno
 *     uint64_t bp_clock_tsc(void)                       the counter, 0 where there is none
 *     int bp_clock_tsc_invariant(void)                  whether it runs at one rate in all states
 *     int bp_exchange_pair(at, &a, &b, new_a, new_b)    the two words at a multiple of 16,
 * atomically, if they are a and b: then 1; else these become what was found
 */
#ifndef BP_PROFILE_ARCH_H
#define BP_PROFILE_ARCH_H

#if defined(__x86_64__)
#    include "profile/arch/x86_64.h"
#else
#    include "profile/arch/unknown.h"
#endif

#endif
