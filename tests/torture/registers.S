/* SPDX-License-Identifier: MIT
 *
 * void t_registers(void), in the library: called by tt_call_registers (callee.S) with a value in
 * every argument register at once, which no single C signature does.
 *
 * Entry: rdi rsi rdx rcx r8 r9, rax, ymm0-7 (xmm0-7 without AVX) and four stack words.
 * It stores them in tt_registers_seen, returns rax, rdx, ymm0, ymm1, st0 and st1 from
 * tt_registers_result, and overwrites every other register and the stack below it that the System V
 * ABI lets a callee destroy: a stub must keep nothing there. r10 (static chain) is not an argument
 * here: no exported C function takes one.
 */
#include "torture.h"

	.text
	.globl t_registers
	.type t_registers, @function
t_registers:
	.cfi_startproc
	endbr64
	mov tt_registers_seen@GOTPCREL(%rip), %r11
	mov %rdi, TT_R_GPR(%r11)
	mov %rsi, TT_R_GPR+8(%r11)
	mov %rdx, TT_R_GPR+16(%r11)
	mov %rcx, TT_R_GPR+24(%r11)
	mov %r8, TT_R_GPR+32(%r11)
	mov %r9, TT_R_GPR+40(%r11)
	mov %rax, TT_R_GPR+48(%r11)
	.irp i, 0, 1, 2, 3
	mov 8+8*\i(%rsp), %rax
	mov %rax, TT_R_STACK+8*\i(%r11)
	.endr
	mov %rsp, TT_R_RSP(%r11)
	pushfq
	.cfi_adjust_cfa_offset 8
	pop TT_R_FLAGS(%r11)
	.cfi_adjust_cfa_offset -8
	mov tt_count@GOTPCREL(%rip), %rax
	incq 8*TT_REGISTERS(%rax)
	mov tt_registers_result@GOTPCREL(%rip), %r10
	mov tt_has_avx@GOTPCREL(%rip), %rax
	cmpl $0, (%rax)
	je 1f
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	vmovups %ymm\i, TT_R_VECTOR+32*\i(%r11)
	.endr
	vmovups TT_O_VECTOR(%r10), %ymm0
	vmovups TT_O_VECTOR+32(%r10), %ymm1
	vpcmpeqd %xmm15, %xmm15, %xmm15
	.irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	vmovaps %xmm15, %xmm\i
	.endr
	jmp 2f
1:	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	movups %xmm\i, TT_R_VECTOR+32*\i(%r11)
	.endr
	movups TT_O_VECTOR(%r10), %xmm0
	movups TT_O_VECTOR+32(%r10), %xmm1
	pcmpeqd %xmm15, %xmm15
	.irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	movaps %xmm15, %xmm\i
	.endr
2:	fldt TT_O_ST+16(%r10)
	fldt TT_O_ST(%r10)
	mov $-1, %rcx
	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
	mov %rcx, -8*\i(%rsp)
	.endr
	mov TT_O_RAX(%r10), %rax
	mov TT_O_RDX(%r10), %rdx
	mov %rcx, %rsi
	mov %rcx, %rdi
	mov %rcx, %r8
	mov %rcx, %r9
	mov %rcx, %r10
	mov %rcx, %r11
	ret
	.cfi_endproc
	.size t_registers, .-t_registers
	.section .note.GNU-stack, "", @progbits
