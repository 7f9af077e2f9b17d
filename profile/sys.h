/* SPDX-License-Identifier: MIT
 *
 * System calls without libc: no errno, no cancellation point, no vector register, nothing that a
 * target could have interposed. Each returns a value or -errno.
 */
#ifndef BP_PROFILE_SYS_H
#define BP_PROFILE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "profile/arch.h"

#define BP_SYS0(n) bp_syscall6(n, 0, 0, 0, 0, 0, 0)
#define BP_SYS1(n, a) bp_syscall6(n, (long)(a), 0, 0, 0, 0, 0)
#define BP_SYS2(n, a, b) bp_syscall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define BP_SYS3(n, a, b, c) bp_syscall6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define BP_SYS4(n, a, b, c, d) bp_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define BP_SYS6(n, a, b, c, d, e, f)                                                               \
    bp_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* mmap returns an address or -errno; addresses of user space are never that high. */
static inline int bp_sys_failed(const void *address) {
    return (uintptr_t)address > (uintptr_t)-4096;
}

#endif
