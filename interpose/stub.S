/* SPDX-License-Identifier: MIT
 *
 * The stubs that patched slots lead to, and the code that all of them share. Stub i imitates
 *
 *     whatever target_i(whatever);        // bp_stubs[i].target
 *
 * for any prototype: it passes every argument register and stack argument through and returns what
 * the target returns. There is a fast stub for plain calls on the TSC, all in assembly, and a slow
 * one that does its bookkeeping in C (waits, I/O, CLOCK_MONOTONIC, and whatever the fast one meets
 * that is rare); for copies that may be known again (interpose/copy.h) a third, which is the fast
 * one and compares and counts more. All leave the stack alike:
 *
 *     at entry       rsp -> return address       S
 *     during call    rsp -> (target's) return    S, the same slot: stack arguments stay in place
 *     entry (rbx)    ret, rbx: the caller's; sp = S
 *
 * rbx holds the entry while the target runs. It is callee-saved, so longjmp, ucontext and greenlet
 * carry the right entry with the stack it belongs to, and the unwinder finds the return address by
 * CFI alone: CFA = rsp + 8 (libgcc identifies frames by their CFA, so it must differ from the
 * callee's, which is rsp), return address at [rbx + ENTRY_RET], rbx at [rbx + ENTRY_RBX].
 *
 * Registers: rax (vector count of varargs), rdx, rcx and r9 are parked in the red zone while the
 * entry is filled in; r10 and r11 are free at a call through the PLT. Nothing here or in the C
 * below (-mgeneral-regs-only) touches a vector or x87 register, MXCSR or the direction flag, so
 * those need no saving. On return rax and rdx are parked in rsi and rdi; rcx, rsi, rdi and r8-r11
 * are dead by the System V ABI.
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
#include "interpose/offsets.h"

/* r10 = this thread's struct bp_thread, or 0. Initial-exec TLS: no call into the dynamic linker. */
.macro LOAD_THREAD
	mov	bp_self@gottpoff(%rip), %r10
	mov	%fs:(%r10), %r10
.endm

/* From here on the return address is in the entry. */
.macro CFI_IN_ENTRY
	.cfi_def_cfa %rsp, 8
	.cfi_escape 0x10, 16, 2, 0x73, ENTRY_RET	/* RA  = [rbx + ENTRY_RET]	*/
	.cfi_escape 0x10, 3, 2, 0x73, ENTRY_RBX		/* rbx = [rbx + ENTRY_RBX]	*/
	.cfi_escape 0x16, 7, 2, 0x77, 0			/* rsp = rsp			*/
.endm

.macro CFI_AT_ENTRY
	.cfi_def_cfa %rsp, 8
	.cfi_offset 16, -8
	.cfi_same_value 3
	.cfi_escape 0x16, 7, 2, 0x77, 8			/* rsp = CFA			*/
.endm

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

/* A copy, of which r9 is the node, r10 the thread; its third and fourth argument are parked.
 * rax = the struct bp_copy_known that it is like. Where to look follows from what the caller gave,
 * and not from the node: waiting for that would take 3 ns more. */
.macro FIND_KNOWN
	mov	%rbx, -COPY_RBX(%rsp)
	mov	%rbp, -COPY_RBP(%rsp)
	mov	THREAD_LOCAL(%r10), %rax
	mov	%esp, %ecx
	shr	$COPY_GRAIN_SHIFT, %ecx
	add	STUB_FUNC(%r11), %ecx
	and	$COPY_PLACES - 1, %ecx
	lea	LOCAL_KNOWN - KNOWN_NEXT(%rax, %rcx, 8), %rax
copy_next:
	mov	KNOWN_NEXT(%rax), %rax
	test	%rax, %rax
	jz	copy_new
	cmp	%rsp, KNOWN_SP(%rax)
	jne	copy_next
	cmp	%r9, KNOWN_NODE(%rax)
	jne	copy_next
	mov	-16(%rsp), %rcx				/* the bytes */
	mov	%rcx, %rdx
	sub	KNOWN_LOW(%rax), %rcx
	cmp	KNOWN_RANGE(%rax), %rcx
	jae	copy_next
	mov	-24(%rsp), %ecx				/* the direction, as cudaMemcpyKind has it */
	and	KNOWN_MASK(%rax), %ecx
	cmp	KNOWN_KIND(%rax), %ecx
	jne	copy_next
	mov	bp_tables_unloaded(%rip), %ecx
	cmp	KNOWN_GENERATION(%rax), %ecx
	jne	copy_next
	mov	%rdx, KNOWN_BYTES(%rax)
	mov	KNOWN_WORDS_SIZE(%rax), %r9d
	xor	%ecx, %ecx
1:
.irp n, 0, 1
	mov	KNOWN_WORDS + \n * WORD_SIZE + WORD_AT(%rax, %rcx), %rdx
	mov	(%rdx), %rdx
	cmp	KNOWN_WORDS + \n * WORD_SIZE + WORD_VALUE(%rax, %rcx), %rdx
	jne	copy_other
.endr
	add	$2 * WORD_SIZE, %ecx
	cmp	%r9d, %ecx
	jne	1b
	mov	KNOWN_NODE(%rax), %r9			/* as before */
.endm

/* It took rax, and its result is esi. */
.macro COUNT_KNOWN rare
	mov	ENTRY_SOURCE(%rbx), %r8
	test	$1, %r8b				/* not known */
	jnz	\rare
	test	%esi, %esi
	jnz	\rare
	mov	%rax, %rdx
	sub	KNOWN_MIN(%r8), %rdx
	cmp	KNOWN_SPAN(%r8), %rdx
	ja	\rare
	mov	KNOWN_SAMPLE(%r8), %rdi
	mov	KNOWN_BYTES(%r8), %rdx
	incq	SAMPLE_COUNT(%rdi)
	add	%rdx, SAMPLE_WEIGHT(%rdi)
	add	%rax, SAMPLE_TIME(%rdi)
	mov	KNOWN_WAITS(%r8), %esi
	movq	$0, ENTRY_SOURCE(%rbx)
.endm

/* r11 = struct bp_stub *. Everything else as the caller left it. Of a copy the entry keeps, too,
 * what it is. */
.macro ENTER copy, bail
	mov	%rdx, -16(%rsp)
	mov	%rcx, -24(%rsp)
.if !\copy						/* of a copy neither is an argument */
	mov	%rax, -8(%rsp)
	mov	%r9, -32(%rsp)
.endif
	LOAD_THREAD
	test	%r10, %r10
	jz	\bail					/* first call of this thread */
	mov	THREAD_CURRENT(%r10), %rdx		/* rdx = parent */
	cmp	%rsp, ENTRY_SP(%rdx)
.if \copy
	jbe	\bail
.else
	jbe	at_parent	/* the parent is not above us: it was left, or is on another stack */
above_us:
.endif
	mov	ENTRY_NODE(%rdx), %rcx			/* rcx = the parent's node */
	imul	$EDGE_FACTOR, %rcx, %rax
	shr	$EDGE_SHIFT, %rax
	lea	(%rax, %r11, 2), %rax
	and	$EDGE_MASK, %eax
	add	THREAD_LOCAL(%r10), %rax		/* rax = edge (parent's node, function) */
	mov	EDGE_NODE(%rax), %r9			/* before the key: a handler may replace both */
	cmp	%rcx, EDGE_PARENT(%rax)
	jne	\bail
	cmp	%r11, EDGE_STUB(%rax)
	jne	\bail
.if \copy
	FIND_KNOWN
copy_found:
.endif
	mov	THREAD_FREE(%r10), %rcx			/* rcx = entry */
	test	%rcx, %rcx
	jz	\bail
.if \copy
	mov	ENTRY_CHILD(%rcx), %rdx			/* the next free one */
	mov	%rdx, THREAD_FREE(%r10)
	mov	%rax, ENTRY_SOURCE(%rcx)
	mov	THREAD_CURRENT(%r10), %rdx
.else
	mov	ENTRY_CHILD(%rcx), %rax
	mov	%rax, THREAD_FREE(%r10)
.endif
	mov	%rbx, ENTRY_RBX(%rcx)
	mov	%r9, ENTRY_NODE(%rcx)
	mov	%rdx, ENTRY_PARENT(%rcx)
	movq	$0, ENTRY_CHILD(%rcx)
	mov	%rsp, ENTRY_SP(%rcx)
	mov	STUB_FUNC(%r11), %eax
	mov	THREAD_LOCAL(%r10), %rdx
	incl	LOCAL_OPEN(%rdx, %rax, 4)		/* how often the function is open */
	mov	STUB_TARGET(%r11), %r11
	mov	%rcx, %rbx
	.cfi_escape 0x10, 3, 2, 0x73, ENTRY_RBX
	mov	-24(%rsp), %rcx
.if !\copy
	mov	-32(%rsp), %r9
.endif
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, ENTRY_START(%rbx)
	mov	%rbx, THREAD_CURRENT(%r10)
	pop	ENTRY_RET(%rbx)
	CFI_IN_ENTRY
	mov	-16(%rsp), %rax
	mov	-24(%rsp), %rdx
	call	*%r11
.endm

/* The target has returned: rax, rdx are its results. Then rsi, rdi have them; of a copy, which
 * succeeded, rsi is whether it waited, and rdi how long it took. rbx is the entry, r10 the thread. */
.macro LEAVE copy, odd, extreme
	mov	%rax, %rsi
.if !\copy
	mov	%rdx, %rdi
.endif
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	LOAD_THREAD
	cmp	%rbx, THREAD_CURRENT(%r10)
	jne	\odd					/* calls above us were left, or we were switched out */
	sub	ENTRY_START(%rbx), %rax			/* rax = duration */
	mov	ENTRY_NODE(%rbx), %r9
	mov	%rax, %rdx
	sub	NODE_MIN(%r9), %rdx
	cmp	NODE_SPAN(%r9), %rdx
	ja	\extreme				/* a new minimum or maximum; bounds the bucket */
.if \copy
	COUNT_KNOWN \extreme
.endif
	mov	THREAD_LOCAL(%r10), %r8
	mov	NODE_FUNC(%r9), %ecx
	mov	ENTRY_PARENT(%rbx), %r11
	decl	LOCAL_OPEN(%r8, %rcx, 4)
	jnz	inner_call\copy
	add	%rax, NODE_TOTAL(%r9)
outer_call\copy:
	add	%rax, ENTRY_CHILD(%r11)
	mov	%rax, %rdx				/* the bucket, as bp_bucket() */
	or	$2, %rdx
	bsr	%rdx, %rcx
	dec	%ecx
	shr	%cl, %rdx
	lea	(%rdx, %rcx, 2), %rdx
.if \copy
	mov	%rax, %rdi
.endif
	sub	ENTRY_CHILD(%rbx), %rax
	add	%rax, NODE_SELF(%r9)
	mov	NODE_LAST(%r9), %ecx			/* the bucket of the call before this one */
	incq	NODE_HISTOGRAM(%r9, %rcx, 8)
	mov	%edx, NODE_LAST(%r9)
	mov	%r11, THREAD_CURRENT(%r10)
.endm

/* rsi, rdi = the target's rax, rdx; the entry is given back. */
.macro RETURN
	push	ENTRY_RET(%rbx)
	mov	%rbx, %r9
	mov	ENTRY_RBX(%rbx), %rbx
	CFI_AT_ENTRY
	mov	THREAD_FREE(%r10), %r8
	mov	%r8, ENTRY_CHILD(%r9)
	mov	%r9, THREAD_FREE(%r10)
	mov	%rsi, %rax
	mov	%rdi, %rdx
	ret
.endm

	.p2align 6
	.type	enter_fast, @function
enter_fast:
	.cfi_startproc
	ENTER	0, bail
	.globl	bp_stub_return_fast
	.hidden	bp_stub_return_fast
bp_stub_return_fast:
	LEAVE	0, leave_odd, leave_extreme
return_from_entry:
	RETURN
	CFI_IN_ENTRY

/* A target that ends in a jump to a hooked function gives it its own return address: our own. */
	CFI_AT_ENTRY
at_parent:
	jb	bail
	lea	bp_stub_return_fast(%rip), %rax
	cmp	%rax, (%rsp)
	je	above_us
	jmp	bail
	CFI_IN_ENTRY

inner_call0:						/* of a function that is open further out */
	add	%rax, NODE_INNER(%r9)
	jmp	outer_call0

/* Rare endings: bp_thread_leave accounts; rax = now or 0; rsp is 16-byte aligned here. */
leave_extreme:
	add	ENTRY_START(%rbx), %rax
leave_odd:
	push	%rsi
	push	%rdi
	.cfi_def_cfa_offset 24
	.cfi_escape 0x16, 7, 2, 0x77, 16		/* rsp = rsp + 16		*/
	mov	%rsi, %rdx				/* the result */
	mov	%rbx, %rdi
	mov	%rax, %rsi
	call	bp_thread_leave				/* 1: the entry may be used again */
	pop	%rdi
	pop	%rsi
	CFI_IN_ENTRY
left:							/* eax = 1: the entry may be used again */
	LOAD_THREAD
	test	%eax, %eax
	jnz	return_from_entry
	push	ENTRY_RET(%rbx)
	mov	ENTRY_RBX(%rbx), %rbx
	CFI_AT_ENTRY
	mov	%rsi, %rax
	mov	%rdi, %rdx
	ret
	.cfi_endproc
	.size	enter_fast, . - enter_fast

/* int target_i(void *, const void *, size_t, ...): a copy that may be known again. One that is not is
 * closed in C, which is given the caller's registers: struct bp_copy_frame. */
.macro FRAME_BEGIN
	lea	-FRAME_SIZE(%rsp), %rsp
	.cfi_def_cfa_offset FRAME_SIZE + 8
	.cfi_escape 0x16, 7, 3, 0x77, FRAME_SIZE | 0x80, 0	/* rsp = rsp + FRAME_SIZE	*/
	mov	ENTRY_RBX(%rbx), %rcx
	mov	%rcx, FRAME_RBX(%rsp)
	mov	%rbp, FRAME_RBP(%rsp)
	mov	%r12, FRAME_R12(%rsp)
	mov	%r13, FRAME_R13(%rsp)
	mov	%r14, FRAME_R14(%rsp)
	mov	%r15, FRAME_R15(%rsp)
	mov	%rsi, FRAME_RAX(%rsp)
.endm

.macro FRAME_END
	mov	FRAME_RAX(%rsp), %rsi
	lea	FRAME_SIZE(%rsp), %rsp
	CFI_IN_ENTRY
.endm

	.p2align 6
	.type	enter_copy, @function
enter_copy:
	.cfi_startproc
	ENTER	1, bail_copy
	.globl	bp_stub_return_copy
	.hidden	bp_stub_return_copy
bp_stub_return_copy:
	LEAVE	1, copy_odd, copy_extreme
	test	%esi, %esi
	jnz	copy_waited
copy_return:						/* rsi = 0, the result */
	RETURN
	CFI_IN_ENTRY
copy_waited:
	mov	THREAD_LOCAL(%r10), %rcx
	mov	LOCAL_TASKS(%rcx), %rsi
	test	%rsi, %rsi
	jz	copy_return
	mov	%rdi, %rsi
	mov	%rbx, %rdi
	call	bp_copy_waited				/* (entry, duration) */
	LOAD_THREAD
	xor	%esi, %esi
	jmp	copy_return
inner_call1:
	add	%rax, NODE_INNER(%r9)
	jmp	outer_call1
copy_extreme:
	add	ENTRY_START(%rbx), %rax
copy_odd:						/* rax = now */
	FRAME_BEGIN
	mov	%rax, %rsi
	mov	%rbx, %rdi
	mov	%rsp, %rdx
	call	bp_copy_leave				/* (entry, now, frame) */
	FRAME_END
	jmp	left

	CFI_AT_ENTRY
copy_other:						/* by another path */
	mov	KNOWN_NODE(%rax), %r9
	jmp	copy_next

/* Not like one before: rax = what it is. */
copy_new:
	mov	THREAD_LOCAL(%r10), %rax
	cmpq	$0, LOCAL_COPIES(%rax)
	je	bail_copy
	mov	$1, %eax
	testb	$STUB_KIND_TOLD, STUB_KIND + 3(%r11)
	cmovnz	-24(%rsp), %eax
	lea	-1(%rax), %ecx
	cmp	$COPY_KINDS - 1, %ecx
	ja	bail_copy
	mov	-16(%rsp), %rdx
	mov	%rdx, %rcx
	shr	$COPY_BITS, %rcx
	jnz	bail_copy
	lea	(%rax, %rdx, 8), %rax
	shl	$COPY_SHIFT, %rax
	mov	STUB_KIND(%r11), %edx
	or	%rdx, %rax
	jmp	copy_found
bail_copy:
	mov	-16(%rsp), %rdx
	mov	-24(%rsp), %rcx
	jmp	slow_call
	.cfi_endproc
	.size	enter_copy, . - enter_copy

/* The same in C. rax, rdx, rcx, r9 may be parked already (bail): they are stored again. */
	.p2align 6
	.type	enter_slow, @function
enter_slow:
	.cfi_startproc
	cmpb	$STUB_KIND_COPY, STUB_KIND(%r11)
	je	enter_copy
slow_call:
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	jmp	1f
bail:	mov	-24(%rsp), %rcx
	mov	-32(%rsp), %r9
1:	lea	-80(%rsp), %rsp				/* struct bp_registers, aligned to 8 mod 16 */
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
