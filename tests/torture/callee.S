/* SPDX-License-Identifier: MIT
 *
 * The program's side of the call: a guard around calls of any signature, and one call with every
 * argument register in use. To an unwinder the guard is the end of the stack while its target runs:
 * the return address lives in a frame of tt_frames, and rbp is deliberately no frame pointer.
 */
#include "torture.h"

/* R tt_guard(...): has the signature of whatever tt_target points to.
 *
 * Entry: every argument register and stack word belongs to the target; only r10 and r11 are free.
 * The caller (tt_begin) has filled the frame at tt_top. The return address moves into the frame, so
 * that the target's call refills its slot and the stack arguments stay where they are. rbx, rbp,
 * r12-r15, MXCSR and the x87 control word get the frame's values for the time of the call; what comes
 * back different is a bit of tt_bad. rax, rdx, xmm0, xmm1, st0 and st1 are results and stay untouched.
 * Status flags of MXCSR and x87 are cleared before and kept after: they are part of the result. */
	.text
	.globl tt_guard
	.type tt_guard, @function
tt_guard:
	.cfi_startproc
	endbr64
	mov tt_top(%rip), %r11
	popq TT_F_RET(%r11)
	.cfi_undefined %rip
	mov %rbx, TT_F_SAVED(%r11)
	mov %rbp, TT_F_SAVED+8(%r11)
	mov %r12, TT_F_SAVED+16(%r11)
	mov %r13, TT_F_SAVED+24(%r11)
	mov %r14, TT_F_SAVED+32(%r11)
	mov %r15, TT_F_SAVED+40(%r11)
	mov %rsp, TT_F_RSP(%r11)
	mov %rdi, TT_F_RDI(%r11)
	stmxcsr TT_F_SAVED_MXCSR(%r11)
	fnstcw TT_F_SAVED_CW(%r11)
	fnclex
	ldmxcsr TT_F_WANT_MXCSR(%r11)
	fldcw TT_F_WANT_CW(%r11)
	mov TT_F_WANT(%r11), %rbx
	mov TT_F_WANT+8(%r11), %rbp
	mov TT_F_WANT+16(%r11), %r12
	mov TT_F_WANT+24(%r11), %r13
	mov TT_F_WANT+32(%r11), %r14
	mov TT_F_WANT+40(%r11), %r15
	addq $TT_F_SIZE, tt_top(%rip)
	mov $-1, %r10
	mov $-1, %r11
	call *tt_target(%rip)
	mov tt_top(%rip), %r11
	sub $TT_F_SIZE, %r11
	mov %r11, tt_top(%rip)
	xor %ecx, %ecx
	.macro check bit, offset, reg
	cmp \offset(%r11), \reg
	je 1f
	or $\bit, %ecx
1:
	.endm
	check 1, TT_F_WANT, %rbx
	check 2, TT_F_WANT+8, %rbp
	check 4, TT_F_WANT+16, %r12
	check 8, TT_F_WANT+24, %r13
	check 16, TT_F_WANT+32, %r14
	check 32, TT_F_WANT+40, %r15
	check TT_BAD_RSP, TT_F_RSP, %rsp
	mov TT_F_RSP(%r11), %rsp
	pushfq
	pop %rsi
	test $0x400, %esi
	jz 1f
	or $TT_BAD_DF, %ecx
	cld
1:	stmxcsr TT_F_SEEN_MXCSR(%r11)
	mov TT_F_SEEN_MXCSR(%r11), %esi
	xor TT_F_WANT_MXCSR(%r11), %esi
	test $0xffc0, %esi
	jz 1f
	or $TT_BAD_MXCSR, %ecx
1:	fnstcw TT_F_SEEN_CW(%r11)
	fnstsw TT_F_SEEN_SW(%r11)
	movzwl TT_F_SEEN_CW(%r11), %esi
	check TT_BAD_CW, TT_F_WANT_CW, %si
	or %ecx, tt_bad(%rip)
	mov %rax, TT_F_RAX(%r11)
	fldcw TT_F_SAVED_CW(%r11)
	ldmxcsr TT_F_SAVED_MXCSR(%r11)
	mov TT_F_SAVED(%r11), %rbx
	mov TT_F_SAVED+8(%r11), %rbp
	mov TT_F_SAVED+16(%r11), %r12
	mov TT_F_SAVED+24(%r11), %r13
	mov TT_F_SAVED+32(%r11), %r14
	mov TT_F_SAVED+40(%r11), %r15
	pushq TT_F_RET(%r11)
	ret
	.cfi_endproc
	.size tt_guard, .-tt_guard

/* void tt_call_registers(void *target, const void *in, void *out): loads the register file `in`,
 * calls the target (t_registers) and stores its results in `out`. */
	.globl tt_call_registers
	.type tt_call_registers, @function
tt_call_registers:
	.cfi_startproc
	endbr64
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	push %rbp
	.cfi_adjust_cfa_offset 8
	push %r12
	.cfi_adjust_cfa_offset 8
	mov %rdi, %rbx
	mov %rsi, %r11
	mov %rdx, %rbp
	mov tt_has_avx@GOTPCREL(%rip), %rax
	mov (%rax), %r12d
	.irp i, 3, 2, 1, 0
	pushq TT_R_STACK+8*\i(%r11)
	.cfi_adjust_cfa_offset 8
	.endr
	test %r12d, %r12d
	jz 1f
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	vmovups TT_R_VECTOR+32*\i(%r11), %ymm\i
	.endr
	jmp 2f
1:	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	movups TT_R_VECTOR+32*\i(%r11), %xmm\i
	.endr
2:	mov TT_R_GPR(%r11), %rdi
	mov TT_R_GPR+8(%r11), %rsi
	mov TT_R_GPR+16(%r11), %rdx
	mov TT_R_GPR+24(%r11), %rcx
	mov TT_R_GPR+32(%r11), %r8
	mov TT_R_GPR+40(%r11), %r9
	mov TT_R_GPR+48(%r11), %rax
	call *%rbx
	mov %rax, TT_O_RAX(%rbp)
	mov %rdx, TT_O_RDX(%rbp)
	fstpt TT_O_ST(%rbp)
	fstpt TT_O_ST+16(%rbp)
	test %r12d, %r12d
	jz 1f
	vmovups %ymm0, TT_O_VECTOR(%rbp)
	vmovups %ymm1, TT_O_VECTOR+32(%rbp)
	vzeroupper
	jmp 2f
1:	movups %xmm0, TT_O_VECTOR(%rbp)
	movups %xmm1, TT_O_VECTOR+32(%rbp)
2:	add $32, %rsp
	.cfi_adjust_cfa_offset -32
	pop %r12
	.cfi_adjust_cfa_offset -8
	pop %rbp
	.cfi_adjust_cfa_offset -8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size tt_call_registers, .-tt_call_registers
	.section .note.GNU-stack, "", @progbits
