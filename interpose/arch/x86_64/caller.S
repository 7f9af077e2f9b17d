/* SPDX-License-Identifier: MIT
 *
 *     void *bp_call_as(void *function, const void *ret, void *a, void *b, void *c);
 *
 * function(a, b, c), called so that its return address is `ret`: the address of a one-byte `ret`
 * instruction in somebody else's text. dlopen and dlsym look at their return address to know whose
 * RUNPATH and scope to use; with ours they would search for the wrong object. The function returns
 * to that instruction, which returns here: whoever walks the stack finds bp_call_as_return behind
 * the borrowed address. Not under a hardware shadow stack, which would object: bp_shadow_stack()
 * tells.
 *
 * Both return addresses are pushed by calls, of which one is replaced: the processor predicts
 * returns by its own count of calls, and would mispredict those of all callers after two that it has
 * not seen (25 ns of a dlsym, measured).
 */
	.text
	.globl	bp_call_as
	.hidden	bp_call_as
	.type	bp_call_as, @function
bp_call_as:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdi, %rax
	mov	%rsi, %r10
	mov	%rdx, %rdi
	mov	%rcx, %rsi
	mov	%r8, %rdx
	sub	$8, %rsp				/* rsp = 8 mod 16 at the function's entry, */
	call	1f					/* as after a call */
	.globl	bp_call_as_return
	.hidden	bp_call_as_return
bp_call_as_return:
	endbr64
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
1:	call	2f
	int3
2:	mov	%r10, (%rsp)
	jmp	*%rax
	.cfi_endproc
	.size	bp_call_as, . - bp_call_as

/* int bp_shadow_stack(void): whether the thread runs under one. rdsspq leaves rax alone without. */
	.globl	bp_shadow_stack
	.hidden	bp_shadow_stack
	.type	bp_shadow_stack, @function
bp_shadow_stack:
	.cfi_startproc
	endbr64
	xor	%eax, %eax
	rdsspq	%rax
	test	%rax, %rax
	setne	%al
	movzbl	%al, %eax
	ret
	.cfi_endproc
	.size	bp_shadow_stack, . - bp_shadow_stack
	.section .note.GNU-stack, "", @progbits
