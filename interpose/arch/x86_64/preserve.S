/* SPDX-License-Identifier: MIT
 *
 *     void bp_call_preserving(void (*function)(struct bp_thread *), struct bp_thread *argument);
 *
 * Calls into libc from below a stub, where the target's argument registers are live: the whole
 * extended state (x87, xmm, ymm, zmm, masks) is saved with XSAVE on the stack around the call.
 * General registers were saved by stub.S. Once per thread; 64-byte alignment is XSAVE's demand.
 * bp_preserve_size: bytes of the area, from CPUID 0Dh (init.c); 0 where there is no XSAVE: then
 * FXSAVE.
 */
	.bss
	.p2align 3
	.globl	bp_preserve_size
	.hidden	bp_preserve_size
	.type	bp_preserve_size, @object
	.size	bp_preserve_size, 8
bp_preserve_size:
	.zero	8

	.text
	.globl	bp_call_preserving
	.hidden	bp_call_preserving
	.type	bp_call_preserving, @function
bp_call_preserving:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rbx
	.cfi_offset %rbx, -24
	mov	%rdi, %r8
	mov	%rsi, %rdi
	mov	bp_preserve_size(%rip), %rbx
	test	%rbx, %rbx
	jz	1f
	sub	%rbx, %rsp
	and	$-64, %rsp
	xor	%eax, %eax
	.set	at, 512					/* the XSAVE header must be zero */
	.rept	8
	mov	%rax, at(%rsp)
	.set	at, at + 8
	.endr
	mov	$-1, %eax
	mov	$-1, %edx
	xsave64	(%rsp)
	call	*%r8
	mov	$-1, %eax
	mov	$-1, %edx
	xrstor64 (%rsp)
	jmp	2f
1:	sub	$512, %rsp
	and	$-64, %rsp
	fxsave64 (%rsp)
	call	*%r8
	fxrstor64 (%rsp)
2:	mov	-8(%rbp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	bp_call_preserving, . - bp_call_preserving
	.section .note.GNU-stack, "", @progbits
