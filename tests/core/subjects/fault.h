/* SPDX-License-Identifier: MIT
 *
 * Included before everything else in a test's build of the library: its system calls pass
 * bp_fault(), which lets one of them fail.
 */
#if !defined(E2E_FAULT_H) && !defined(__ASSEMBLER__)
#    define E2E_FAULT_H

#    define bp_syscall6 bp_syscall6_real
#    include "profile/sys.h"
#    undef bp_syscall6

/* 0, or the -errno that the call is to return instead of being made. */
long bp_fault(long number) __attribute__((visibility("hidden")));

static inline long bp_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    long error = bp_fault(number);
    return error ? error : bp_syscall6_real(number, a, b, c, d, e, f);
}

#endif
