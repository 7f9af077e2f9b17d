/* SPDX-License-Identifier: MIT
 *
 * What has to be asked of the CPU once: how much preserve.S has to save.
 */
#include "interpose/arch/arch.h"

extern uint64_t bp_preserve_size BP_ARCH_HIDDEN; /* in preserve.S */

#define FEATURES 1  /* CPUID leaf; ECX bit 27: the kernel lets programs use XSAVE */
#define STATES 0x0d /* CPUID leaf; EBX: bytes of an XSAVE area for all enabled features */

void bp_arch_init(void) {
    uint32_t a = FEATURES, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (!(c >> 27 & 1))
        return;
    a = STATES;
    c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    bp_preserve_size = b;
}
