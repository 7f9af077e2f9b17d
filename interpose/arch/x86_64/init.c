/* SPDX-License-Identifier: MIT
 *
 * What has to be asked of the CPU once: how much preserve.S has to save. Not at the start: few
 * processes need it, and a virtual machine takes 4 us for each answer.
 */
#include "interpose/arch/arch.h"

extern uint64_t bp_preserve_size BP_ARCH_HIDDEN; /* in preserve.S */

#define FEATURES 1  /* CPUID leaf; ECX bit 27: the kernel lets programs use XSAVE */
#define STATES 0x0d /* CPUID leaf; EBX: bytes of an XSAVE area for all enabled features */

void bp_arch_before_preserving(void) {
    static uint32_t asked;
    uint32_t a = FEATURES, b, c = 0, d;
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
        return;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (c >> 27 & 1) {
        a = STATES;
        c = 0;
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        bp_preserve_size = b;
    }
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
}
