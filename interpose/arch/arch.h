/* SPDX-License-Identifier: MIT
 *
 * What the library needs of the CPU. Each has a folder with the same names; a port writes one, and
 * adds it here and in interpose/meson.build. profile/arch.h is the part that the command needs too.
 *
 *     arch.h       stubs, argument registers, relocations, the thread's stack, jmp_buf
 *     frame.h      registers as DWARF numbers them, for unwind/ and sample/
 *     *.S          stubs; calls under another name; calls with all registers kept; signal return
 *     init.c       what has to be asked of the CPU once
 *     offsets.c    fields of C structures for the assembly; runs while building
 */
#ifndef BP_INTERPOSE_ARCH_ARCH_H
#define BP_INTERPOSE_ARCH_ARCH_H

#if defined(__x86_64__)
#    include "interpose/arch/x86_64/arch.h"
#else
#    error "interpose/arch has no folder for this CPU"
#endif

#endif
