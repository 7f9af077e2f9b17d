/* SPDX-License-Identifier: MIT
 *
 * void loan(void): what a borrowed thread runs. It needs nobody's help to come to an end: should
 * `battprof attach` be killed, the thread itself goes back to where it was.
 *
 * On entry all registers are those of the interrupted code, red zone included; they lie in the data
 * behind this code, too. Nothing is pushed on the thread's stack, which may be small. In order:
 *
 *     block signals      a handler could leave by longjmp, with the loader's lock taken
 *     mmap               a stack, 2 × BP_ATTACH_STACK; the uppermost part of its aligned half is
 *                        struct bp_attach, which attach fills while this thread stands at
 *                        bp_loan_mapped. Was it not filled, there is nothing to do.
 *     dlopen             with the extended state and errno kept
 *     munmap, and wait   for attach to give the registers back: it alone can put a system call
 *                        back as the kernel had it. Half a second later the thread does it alone.
 *
 * While it waits rbx counts down, r13 is the handle that dlopen returned and r14 what dlerror said.
 * No CFI: unwinders find no frame here, and stop.
 */
#include "tools/attach/x86_64/loan.h"

#define SYS_mmap 9
#define SYS_munmap 11
#define SYS_rt_sigprocmask 14
#define SYS_pselect6 270
#define SIG_SETMASK 2
#define SIGSET 8             /* bytes */
#define READ_WRITE 3         /* PROT_ */
#define PRIVATE_ANON 0x22    /* MAP_ */
#define STACK (512 << 10)    /* BP_ATTACH_STACK */
#define HIGHEST_ERROR -4095
#define WAITS 25             /* of 20 ms */
#define DEFAULT_MXCSR 0x1f80 /* all exceptions masked, round to nearest */

    .section .rodata
    .balign 16
    .globl bp_loan, bp_loan_mapped, bp_loan_waiting, bp_loan_data
    .hidden bp_loan, bp_loan_mapped, bp_loan_waiting, bp_loan_data

bp_loan:
    mov $SYS_rt_sigprocmask, %eax
    mov $SIG_SETMASK, %edi
    lea bp_loan_data + BP_LOAN_BLOCKED(%rip), %rsi
    xor %edx, %edx
    mov $SIGSET, %r10d
    syscall
    mov $SYS_mmap, %eax
    xor %edi, %edi
    mov $2 * STACK, %esi
    mov $READ_WRITE, %edx
    mov $PRIVATE_ANON, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    syscall
bp_loan_mapped:
    xor %r13d, %r13d
    xor %r14d, %r14d
    mov %rax, %rbx
    cmp $HIGHEST_ERROR, %rax
    jae .Lwait
    lea 2 * STACK(%rax), %r12
    and $-STACK, %r12
    sub $BP_LOAN_ATTACH, %r12
    cmpq $0, BP_LOAN_READY(%r12)
    je .Lunmap

    mov %r12, %rsp
    mov BP_LOAN_XSTATE(%r12), %eax
    mov BP_LOAN_XSTATE + 4(%r12), %edx
    xsave64 (%rbx)              /* the mapping begins there; its header is zero, as it must be */
    fninit
    ldmxcsr .Lmxcsr(%rip)
    cld
    xor %ebp, %ebp
    cmpq $0, BP_LOAN_ERRNO(%r12)
    je .Lopen
    call *BP_LOAN_ERRNO(%r12)
    mov %rax, %rbp
    mov (%rbp), %r15d
.Lopen:
    lea BP_LOAN_PATH(%r12), %rdi
    mov BP_LOAN_MODE(%r12), %esi
    call *BP_LOAN_DLOPEN(%r12)
    mov %rax, %r13
    test %rax, %rax
    jnz .Lopened
    cmpq $0, BP_LOAN_DLERROR(%r12)
    je .Lopened
    call *BP_LOAN_DLERROR(%r12)
    mov %rax, %r14
.Lopened:
    test %rbp, %rbp
    jz .Lkeep
    mov %r15d, (%rbp)
.Lkeep:
    mov BP_LOAN_XSTATE(%r12), %eax
    mov BP_LOAN_XSTATE + 4(%r12), %edx
    xrstor64 (%rbx)

.Lunmap:
    mov $SYS_rt_sigprocmask, %eax /* ours of sampling, too: soon there is no stack for it */
    mov $SIG_SETMASK, %edi
    lea .Lall(%rip), %rsi
    xor %edx, %edx
    mov $SIGSET, %r10d
    syscall
    mov bp_loan_data + BP_LOAN_RSP(%rip), %rsp
    mov $SYS_munmap, %eax
    mov %rbx, %rdi
    mov $2 * STACK, %esi
    syscall

.Lwait:
    mov $WAITS, %ebx
.Lagain:
    mov $SYS_pselect6, %eax /* the kernel has nothing to remember of it, if it is interrupted */
    xor %edi, %edi
    xor %esi, %esi
    xor %edx, %edx
    xor %r10d, %r10d
    lea .Lpause(%rip), %r8
    xor %r9d, %r9d
    syscall
bp_loan_waiting:
    dec %ebx
    jnz .Lagain

    /* The flags by way of a stack that is no stack, while signals are blocked; then no instruction
     * that changes them. */
    lea bp_loan_data + BP_LOAN_FLAGS(%rip), %rsp
    popfq
    mov bp_loan_data + BP_LOAN_RSP(%rip), %rsp
    mov $SYS_rt_sigprocmask, %eax
    mov $SIG_SETMASK, %edi
    lea bp_loan_data + BP_LOAN_MASK(%rip), %rsi
    mov $0, %edx
    mov $SIGSET, %r10d
    syscall
    mov bp_loan_data + BP_LOAN_R15(%rip), %r15
    mov bp_loan_data + BP_LOAN_R14(%rip), %r14
    mov bp_loan_data + BP_LOAN_R13(%rip), %r13
    mov bp_loan_data + BP_LOAN_R12(%rip), %r12
    mov bp_loan_data + BP_LOAN_RBP(%rip), %rbp
    mov bp_loan_data + BP_LOAN_RBX(%rip), %rbx
    mov bp_loan_data + BP_LOAN_R11(%rip), %r11
    mov bp_loan_data + BP_LOAN_R10(%rip), %r10
    mov bp_loan_data + BP_LOAN_R9(%rip), %r9
    mov bp_loan_data + BP_LOAN_R8(%rip), %r8
    mov bp_loan_data + BP_LOAN_RAX(%rip), %rax
    mov bp_loan_data + BP_LOAN_RCX(%rip), %rcx
    mov bp_loan_data + BP_LOAN_RDX(%rip), %rdx
    mov bp_loan_data + BP_LOAN_RSI(%rip), %rsi
    mov bp_loan_data + BP_LOAN_RDI(%rip), %rdi
    jmp *bp_loan_data + BP_LOAN_RIP(%rip)

    .balign 8
.Lall:
    .quad -1
.Lpause:
    .quad 0, 20000000
.Lmxcsr:
    .long DEFAULT_MXCSR
    .balign 8
bp_loan_data: /* BP_LOAN_SIZE bytes follow in the copy */

    .section .note.GNU-stack, "", @progbits
