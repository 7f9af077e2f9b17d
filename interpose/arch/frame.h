/* SPDX-License-Identifier: MIT
 *
 * The registers and the frame of the CPU that is built for.
 */
#ifndef BP_INTERPOSE_ARCH_FRAME_H
#define BP_INTERPOSE_ARCH_FRAME_H

#if defined(__x86_64__)
#    include "interpose/arch/x86_64/frame.h"
#else
#    error "interpose/arch has no folder for this CPU"
#endif

#endif
