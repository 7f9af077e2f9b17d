/* SPDX-License-Identifier: MIT
 *
 * System calls, the clock and a 128-bit compare and swap of x86-64, without libc.
 */
#ifndef BP_PROFILE_ARCH_X86_64_H
#define BP_PROFILE_ARCH_X86_64_H

#include <stdint.h>

static inline long bp_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* The time stamp counter. */
static inline uint64_t bp_clock_tsc(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* CPUID 8000_0007h EDX bit 8: the counter runs at one rate in all P-, C- and T-states. Processors
 * with long mode have the leaves up to 8000_0008h; a virtual machine takes 5 us to answer. */
static inline int bp_clock_tsc_invariant(void) {
    uint32_t a = 0x80000007u, b, c, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return d >> 8 & 1;
}

static inline int bp_exchange_pair(void *at, uint64_t *a, uint64_t *b, uint64_t new_a,
                                   uint64_t new_b) {
    unsigned char done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*(unsigned __int128 *)at), "+a"(*a), "+d"(*b)
                     : "b"(new_a), "c"(new_b)
                     : "memory");
    return done;
}

#endif
