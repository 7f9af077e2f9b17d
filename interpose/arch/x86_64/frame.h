/* SPDX-License-Identifier: MIT
 *
 * Registers of x86-64 as DWARF numbers them, where a thread's come from, and what a call looks
 * like. interpose/arch/frame.h includes it.
 */
#ifndef BP_INTERPOSE_ARCH_X86_64_FRAME_H
#define BP_INTERPOSE_ARCH_X86_64_FRAME_H

#include <stdint.h>
#include <sys/ucontext.h>

#define BP_REG_ENTRY 3 /* rbx: in a stub's frame the address of its entry */
#define BP_REG_SP 7
#define BP_REG_RA 16 /* the return address; of the innermost frame the pc */
#define BP_REGS 17

/* rbx, rbp, r12 to r15: a function leaves them as they were. */
#define BP_ARCH_SAVED 6
static const uint8_t bp_arch_saved[BP_ARCH_SAVED] __attribute__((unused)) = {3, 6, 12, 13, 14, 15};
#define BP_ARCH_SAVED_MASK (1u << 3 | 1u << 6 | 0xfu << 12)

#define BP_ARCH_WORD 8       /* bytes of a return address on the stack */
#define BP_ARCH_RED_ZONE 128 /* bytes below the stack pointer that a function may use */

/* The registers of the calling function, as far as a caller's frame can need them: those that
 * BP_ARCH_HERE has bits of. */
#define BP_ARCH_HERE (BP_ARCH_SAVED_MASK | 1u << BP_REG_SP | 1u << BP_REG_RA)
static inline __attribute__((always_inline)) void bp_arch_registers_here(uint64_t *r) {
    __asm__ volatile("mov %%rbx, 24(%0)\n\t"
                     "mov %%rbp, 48(%0)\n\t"
                     "mov %%rsp, 56(%0)\n\t"
                     "mov %%r12, 96(%0)\n\t"
                     "mov %%r13, 104(%0)\n\t"
                     "mov %%r14, 112(%0)\n\t"
                     "mov %%r15, 120(%0)\n\t"
                     "lea 0f(%%rip), %%rcx\n\t"
                     "mov %%rcx, 128(%0)\n"
                     "0:"
                     :
                     : "r"(r)
                     : "rcx", "memory");
}

/* All registers of what a signal interrupted. */
static inline void bp_arch_registers_of(const ucontext_t *context, uint64_t *r) {
    static const uint8_t order[BP_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < BP_REGS; i++)
        r[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static inline uint64_t bp_arch_pc_of(const ucontext_t *context) {
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

/* Whether the instruction that ends before `code` is a call: e8 and four bytes, or ff with 2 in the
 * middle bits of the next byte, which one, two, five or six more may follow. */
#define BP_ARCH_LONGEST_CALL 7 /* bytes that must be readable before `code` */
static inline int bp_arch_is_after_call(const uint8_t *code) {
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    for (unsigned i = 0; i < sizeof lengths; i++)
        if (code[-lengths[i]] == 0xff && (code[1 - lengths[i]] >> 3 & 7) == 2)
            return 1;
    return code[-5] == 0xe8;
}

/* Where the jump or conditional jump leads to that `code` begins with, of which `size` bytes are
 * the function's; 0 if it is none, or a short one. */
static inline uint64_t bp_arch_jump_target(const uint8_t *code, uint64_t size) {
    unsigned length = code[0] == 0xe9 ? 5 : 6;
    int32_t offset;
    if (size < length || (length == 6 && (code[0] != 0x0f || code[1] >> 4 != 8)))
        return 0;
    __builtin_memcpy(&offset, code + length - sizeof offset, sizeof offset);
    return (uint64_t)code + length + (uint64_t)(int64_t)offset;
}

#endif
