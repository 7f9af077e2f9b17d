/* SPDX-License-Identifier: MIT
 *
 * The stubs that patched slots lead to, and the code that all of them share. Stub i imitates
 *
 *     whatever target_i(whatever);        // bp_stubs[i].target
 *
 * for any prototype: it passes every argument register and stack argument through and returns what
 * the target returns. There is a fast stub for plain calls on the TSC, all in assembly, and a slow
 * one that does its bookkeeping in C (waits, I/O, CLOCK_MONOTONIC, and whatever the fast one meets
 * that is rare). Both leave the stack alike:
 *
 *     at entry       rsp -> return address       S
 *     during call    rsp -> (target's) return    S, the same slot: stack arguments stay in place
 *     entry (rbx)    ret, rbx: the caller's; sp = S
 *
 * rbx holds the entry while the target runs. It is callee-saved, so longjmp, ucontext and greenlet
 * carry the right entry with the stack it belongs to, and the unwinder finds the return address by
 * CFI alone: return address at [rbx + ENTRY_RET], rbx at [rbx + ENTRY_RBX].
 *
 * libgcc knows a frame again by its callee's CFA, and aborts if it takes a stub for the frame that
 * catches: so the CFA of a stub must differ from the callee's, which is rsp, and from that of the
 * caller, which is rsp + 16 at least. It is rsp + 8. Hooked functions that end in a jump to one
 * another make a chain of stubs with the same rsp: all but the outermost, whose return addresses
 * are in here, have less, rsp + 1 to rsp + 7. backtrace(3) and gdb end where two neighbours are
 * equal, so that is taken from the address of the entry.
 *
 * Registers: rax (vector count of varargs) is parked in the red zone while the call is opened, and
 * rdx, rcx and r9 where it is timed; r10 and r11 are free at a call through the PLT. Nothing here
 * or in the C below (-mgeneral-regs-only) touches a vector or x87 register, MXCSR or the direction
 * flag, so those need no saving. On return rax and rdx are parked in rsi and rdi; rcx, rsi, rdi and
 * r8-r11 are dead by the System V ABI.
 *
 * The histogram is one call behind: a store whose address follows from the clock reading just made
 * holds up the loads after it (9 ns a call, measured). The bucket is left in NODE_LAST, and the next
 * call on that node increments its counter. A handler that calls on the same node in between may
 * move one call to another bucket; the sum stays right.
 *
 * A signal handler may run hooked calls between any two instructions: an entry is taken from the
 * free list before it is written, published in THREAD_CURRENT when it is complete, and given back
 * after its last use. The handler leaves the list as it found it.
 */
#include "interpose/arch/x86_64/stub.inc"

	.text

/* 16 bytes each: endbr64, the stub's data, the shared code. */
.macro STUBS name, shared
	.p2align 6
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.set	i, 0
	.rept	STUB_COUNT
	endbr64
	lea	bp_stubs + i * STUB_SIZE(%rip), %r11
	.byte	0xe9					/* jmp rel32, never the short form */
	.long	\shared - . - 4
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	\name, . - \name
.endm

	STUBS	bp_stubs_fast, enter_fast
	STUBS	bp_stubs_slow, enter_slow

	.p2align 6
	.type	enter_fast, @function
enter_fast:
	.cfi_startproc
	FIND	bail, counted
timed:
	TAKE	bail_without_entry
	OPEN
	.globl	bp_stub_return_fast
	.hidden	bp_stub_return_fast
bp_stub_return_fast:
	LEAVE	leave_odd, leave_extreme
return_from_entry:
	RETURN
	CFI_IN_ENTRY

/* A target that ends in a jump to a hooked function gives it its own return address: our own. */
	CFI_AT_ENTRY
	.cfi_same_value 3
at_parent:
	jb	bail
	lea	bp_stub_return_fast(%rip), %r11
	cmp	%r11, (%rsp)
	je	above_us
	lea	bp_stub_return_counted(%rip), %r11
	cmp	%r11, (%rsp)
	je	above_us
	lea	bp_stub_return_sampled(%rip), %r11
	cmp	%r11, (%rsp)
	je	above_us
bail_at_edge:
	mov	EDGE_STUB(%rax), %r11
	jmp	bail
other_edge:
	FIND_OTHER bail
within_jumped:
	LOOK_WITHIN bail

/* Calls of a context that is adaptive (light.c), and whatever C wants to see. ZF: it is time to time
 * one. */
counted:
	jz	sampled
	cmpb	$EDGE_JUMPED, EDGE_COUNTED(%rax)
	je	jumped
	COUNT	bail_at_edge, timed
	.globl	bp_stub_return_counted
	.hidden	bp_stub_return_counted
bp_stub_return_counted:
	COUNTED	counted_odd, counted_late, counted_nested
	CFI_AT_ENTRY
	.cfi_same_value 3
jumped:
	JUMP
sampled:
	TAKE	bail_without_entry
	mov	%rax, ENTRY_SOURCE(%rcx)
	OPEN
	.globl	bp_stub_return_sampled
	.hidden	bp_stub_return_sampled
bp_stub_return_sampled:
	mov	%rax, %rsi
	mov	%rdx, %rdi
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	jmp	leave_odd

	CFI_IN_ENTRY
/* Calls that are timed were made from it: r11 = parent. No outer call of the function is open. */
counted_nested:
	add	%rcx, ENTRY_CHILD(%r11)
	movq	$0, ENTRY_CHILD(%rbx)
	add	%rcx, NODE_TOTAL(%rsi)
	jmp	return_counted

counted_late:
	mov	%rbx, THREAD_CURRENT(%r10)
counted_odd:
	lea	-32(%rsp), %rsp
	.cfi_def_cfa %rsp, 40
	.cfi_escape 0x16, 7, 2, 0x77, 32		/* rsp = rsp + 32		*/
	mov	%rax, 8(%rsp)
	mov	%rdx, (%rsp)
	mov	%rax, %rdx				/* the result */
	mov	%rbx, %rdi
	xor	%esi, %esi
	mov	ENTRY_SOURCE(%rbx), %rax
	mov	%rax, 16(%rsp)
	call	bp_thread_leave				/* 1: the entry may be used again */
	mov	%eax, %ecx
	mov	16(%rsp), %r8
	mov	EDGE_OPEN(%r8), %r9
	mov	8(%rsp), %rax
	mov	(%rsp), %rdx
	lea	32(%rsp), %rsp
	CFI_IN_ENTRY
	push	ENTRY_RET(%rbx)
	CFI_AT_ENTRY
	.cfi_escape 0x10, 3, 2, 0x73, ENTRY_RBX
	mov	ENTRY_RBX(%rbx), %rbx
	.cfi_same_value 3
	test	%ecx, %ecx
	jz	1f
	cmpl	$0, (%r9)
	je	1f
	decl	(%r9)				/* the entry may be claimed again */
1:	ret
	CFI_IN_ENTRY

inner_call:						/* of a function that is open further out */
	js	leave_orphan
	add	%rax, NODE_INNER(%r9)
	jmp	outer_call

/* The function is not open at all: a forked child that no handler of ours saw (struct bp_local). */
leave_orphan:
	incl	LOCAL_OPEN(%r8, %rcx, 4)
	xor	%eax, %eax
	jmp	leave_odd

/* Rare endings: bp_thread_leave accounts; rax = now or 0; rsp is 16-byte aligned here. */
leave_extreme:
	add	ENTRY_START(%rbx), %rax
leave_odd:
	lea	-16(%rsp), %rsp
	.cfi_def_cfa %rsp, 24
	.cfi_escape 0x16, 7, 2, 0x77, 16		/* rsp = rsp + 16		*/
	mov	%rsi, 8(%rsp)
	mov	%rdi, (%rsp)
	mov	%rsi, %rdx				/* the result */
	mov	%rbx, %rdi
	mov	%rax, %rsi
	call	bp_thread_leave				/* 1: the entry may be used again */
	mov	(%rsp), %rdi
	mov	8(%rsp), %rsi
	lea	16(%rsp), %rsp
	CFI_IN_ENTRY
	LOAD_THREAD
	test	%eax, %eax
	jnz	return_from_entry
	push	ENTRY_RET(%rbx)
	CFI_AT_ENTRY
	.cfi_escape 0x10, 3, 2, 0x73, ENTRY_RBX
	mov	ENTRY_RBX(%rbx), %rbx
	.cfi_same_value 3
	mov	%rsi, %rax
	mov	%rdi, %rdx
	ret
	.cfi_endproc
	.size	enter_fast, . - enter_fast

/* The same in C. rax may be parked already (bail). */
	.p2align 6
	.type	enter_slow, @function
enter_slow:
	.cfi_startproc
	mov	%rax, -8(%rsp)
	jmp	bail
bail_without_entry:
	mov	EDGE_STUB(%rax), %r11
	mov	-24(%rsp), %rcx
bail:	mov	%rdx, -16(%rsp)
	lea	-80(%rsp), %rsp				/* struct bp_registers, aligned to 8 mod 16 */
	.cfi_adjust_cfa_offset 80
	mov	%rcx, 56(%rsp)
	mov	%r9, 48(%rsp)
	mov	%r8, 40(%rsp)
	mov	%rsi, 32(%rsp)
	mov	%rdi, 24(%rsp)
	mov	%r11, 16(%rsp)
	mov	%r11, %rdi
	lea	24(%rsp), %rsi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	bp_thread_enter				/* (stub, registers): the entry or NULL */
	mov	24(%rsp), %r11
	mov	32(%rsp), %rdi
	mov	40(%rsp), %rsi
	mov	48(%rsp), %r8
	mov	56(%rsp), %r9
	mov	64(%rsp), %rcx
	mov	%rax, %r10
	mov	80(%rsp), %rax				/* parked at -8 of the caller's rsp */
	mov	72(%rsp), %rdx				/* parked at -16 */
	lea	88(%rsp), %rsp
	.cfi_adjust_cfa_offset -88
	mov	STUB_TARGET(%r11), %r11
	test	%r10, %r10
	jz	3f
	mov	%rbx, ENTRY_RBX(%r10)
	mov	%r10, %rbx
	.cfi_escape 0x10, 3, 2, 0x73, ENTRY_RBX
	pop	ENTRY_RET(%rbx)
	CFI_IN_ENTRY
	call	*%r11
	.globl	bp_stub_return_slow
	.hidden	bp_stub_return_slow
bp_stub_return_slow:
	mov	%rax, %rsi
	mov	%rdx, %rdi
	xor	%eax, %eax
	jmp	leave_odd
	CFI_AT_ENTRY
3:	jmp	*%r11					/* not recorded: as if we were not here */
	.cfi_endproc
	.size	enter_slow, . - enter_slow

	.section .note.GNU-stack, "", @progbits
