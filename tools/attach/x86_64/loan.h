/* SPDX-License-Identifier: MIT
 *
 * What loan.S and its C share: where things lie in the code that a borrowed thread runs. The code
 * is copied, with this behind it, to a place of the process where nothing else is.
 */
#ifndef BP_TOOLS_ATTACH_X86_64_LOAN_H
#define BP_TOOLS_ATTACH_X86_64_LOAN_H

#define BP_LOAN_R15 0
#define BP_LOAN_R14 8
#define BP_LOAN_R13 16
#define BP_LOAN_R12 24
#define BP_LOAN_RBP 32
#define BP_LOAN_RBX 40
#define BP_LOAN_R11 48
#define BP_LOAN_R10 56
#define BP_LOAN_R9 64
#define BP_LOAN_R8 72
#define BP_LOAN_RAX 80
#define BP_LOAN_RCX 88
#define BP_LOAN_RDX 96
#define BP_LOAN_RSI 104
#define BP_LOAN_RDI 112
#define BP_LOAN_RIP 120
#define BP_LOAN_FLAGS 128
#define BP_LOAN_RSP 136
#define BP_LOAN_MASK 144
#define BP_LOAN_BLOCKED 152
#define BP_LOAN_SIZE 160

/* Offsets in struct bp_attach (profile/attach.h). */
#define BP_LOAN_READY 16
#define BP_LOAN_DLOPEN 24
#define BP_LOAN_DLERROR 32
#define BP_LOAN_ERRNO 40
#define BP_LOAN_MODE 48
#define BP_LOAN_XSTATE 56
#define BP_LOAN_PATH 512
#define BP_LOAN_ATTACH 16384

#ifndef __ASSEMBLER__
#    include <stdint.h>

extern const char bp_loan[];        /* the code, from its first instruction */
extern const char bp_loan_mapped[]; /* where it goes on when it has memory */
extern const char
    bp_loan_waiting[];            /* where it goes on after a moment of waiting to be given back */
extern const char bp_loan_data[]; /* behind the code: struct bp_loan_data */
#endif

#endif
