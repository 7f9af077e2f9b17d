/* SPDX-License-Identifier: MIT
 *
 * x86-64 with glibc: what of it is not unwinding (frame.h). interpose/arch/arch.h includes it.
 */
#ifndef BP_INTERPOSE_ARCH_X86_64_ARCH_H
#define BP_INTERPOSE_ARCH_X86_64_ARCH_H

#include <link.h>
#include <setjmp.h>
#include <stdint.h>

#define BP_ARCH_HIDDEN __attribute__((visibility("hidden")))

/* stub.S: stub i is at i * BP_STUB_CODE_SIZE. */
#define BP_STUB_CODE_SIZE 16
extern const char bp_stubs_fast[] BP_ARCH_HIDDEN;
extern const char bp_stubs_slow[] BP_ARCH_HIDDEN;
/* Where targets return to. */
extern const char bp_stub_return_fast[] BP_ARCH_HIDDEN;
extern const char bp_stub_return_slow[] BP_ARCH_HIDDEN;
extern const char bp_stub_return_counted[] BP_ARCH_HIDDEN;
extern const char bp_stub_return_sampled[] BP_ARCH_HIDDEN;

static inline int bp_arch_is_stub_return(uint64_t pc) {
    return pc == (uint64_t)bp_stub_return_fast || pc == (uint64_t)bp_stub_return_slow ||
           pc == (uint64_t)bp_stub_return_counted || pc == (uint64_t)bp_stub_return_sampled;
}

/* The argument registers as stub.S stores them below the return address. */
struct bp_registers {
    uint64_t rdi, rsi, r8, r9, rcx, rdx, rax;
    uint64_t ret; /* what follows are the arguments on the stack */
};

#define BP_ARCH_ARGUMENTS 6 /* in registers */

/* An argument that is a word: an integer or a pointer. Numbers begin at 0; a call of a function
 * that has less arguments leaves anything in the others' places. */
static inline uint64_t bp_arch_argument(const struct bp_registers *registers, unsigned number) {
    switch (number) {
    case 0:
        return registers->rdi;
    case 1:
        return registers->rsi;
    case 2:
        return registers->rdx;
    case 3:
        return registers->rcx;
    case 4:
        return registers->r8;
    case 5:
        return registers->r9;
    default:
        return (&registers->ret + 1)[number - BP_ARCH_ARGUMENTS];
    }
}

/* caller.S: function(a, b, c), which sees `ret` as its return address. Whoever walks the stack
 * finds bp_call_as_return behind it. Not under a hardware shadow stack. */
void *bp_call_as(void *function, const void *ret, void *a, void *b, void *c);
extern const char bp_call_as_return[] BP_ARCH_HIDDEN;
int bp_shadow_stack(void);
#define BP_ARCH_RETURN 0xc3 /* the instruction that `ret` has to be the address of: one byte */

/* preserve.S: call function(argument) from a stub, with all vector and x87 state kept. */
struct bp_thread;
void bp_call_preserving(void (*function)(struct bp_thread *), struct bp_thread *argument);

/* restore.S: where the kernel has a signal handler return to. */
void bp_arch_signal_return(void) BP_ARCH_HIDDEN;

/* init.c: before bp_call_preserving. */
void bp_arch_before_preserving(void);

/* Relocations whose slot holds the address of a function, and those that may be bound lazily. */
static inline int bp_arch_is_lazy(const ElfW(Rela) * relocation) {
    return ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT;
}

static inline int bp_arch_is_slot(const ElfW(Rela) * relocation) {
    switch (ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_GLOB_DAT:
        return 1;
    case R_X86_64_64:
        return relocation->r_addend == 0;
    default:
        return 0;
    }
}

/* The upper end of a new thread's stack: glibc puts the thread's control block there. */
static inline uint64_t bp_arch_stack_top(void) {
    uint64_t high;
    __asm__("mov %%fs:0, %0" : "=r"(high));
    return high;
}

/* The stack pointer that longjmp will set. glibc keeps it (rbx rbp r12 r13 r14 r15 rsp rip) xored
 * with the pointer guard and rotated by 17. */
static inline uint64_t bp_arch_jump_sp(const struct __jmp_buf_tag *target) {
    uint64_t sp = (uint64_t)target->__jmpbuf[6], guard;
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return (sp >> 17 | sp << 47) ^ guard;
}

/* What the stack pointer was at the call of the function whose __builtin_frame_address(0) that is,
 * once it has returned. */
static inline uint64_t bp_arch_sp_of_caller(const void *frame_address) {
    return (uint64_t)frame_address + 16;
}

#endif
