/* SPDX-License-Identifier: MIT
 *
 * int target_i(void *, const void *, size_t, ...): the stub of a copy that may be known again, see
 * interpose/copy.h. It is the fast one of stub.S, and compares and counts more. A copy that is not
 * known is closed in C, which is given the caller's registers: struct bp_copy_frame.
 */
#include "interpose/stub.inc"

	.text

/* A copy, of which r9 is the node, r10 the thread; its third and fourth argument are parked.
 * rax = the struct bp_copy_known that it is like. Where to look follows from what the caller gave,
 * and not from the node: waiting for that would take 3 ns more. Of the ring at that place the one
 * that was found last comes first. The call path, which most often tells two of a ring apart, is
 * compared before the rest. */
.macro FIND_KNOWN
	mov	%rbx, -COPY_RBX(%rsp)
	mov	%rbp, -COPY_RBP(%rsp)
	mov	%r9, -COPY_NODE(%rsp)
	mov	THREAD_LOCAL(%r10), %rax
	mov	%esp, %ecx
	shr	$COPY_GRAIN_SHIFT, %ecx
	add	STUB_FUNC(%r11), %ecx
	add	(%rsp), %ecx
	bsr	-16(%rsp), %rdx				/* undefined if it is 0: then none is found */
	lea	(%rcx, %rdx, COPY_SIZE_STEP), %ecx
	and	$COPY_PLACES - 1, %ecx
	mov	LOCAL_KNOWN(%rax, %rcx, 8), %rax
	mov	%rax, -COPY_FIRST(%rsp)
	test	%rax, %rax
	jnz	copy_compare
	jmp	copy_new
copy_next:
	mov	KNOWN_NEXT(%rax), %rax
	cmp	%rax, -COPY_FIRST(%rsp)
	je	copy_new
copy_compare:
	cmp	%rsp, KNOWN_SP(%rax)
	jne	copy_next
	mov	KNOWN_WORDS_SIZE(%rax), %r9d
	xor	%ecx, %ecx
1:
.irp n, 0, 1
	mov	KNOWN_WORDS + \n * WORD_SIZE + WORD_AT(%rax, %rcx), %rdx
	mov	(%rdx), %rdx
	cmp	KNOWN_WORDS + \n * WORD_SIZE + WORD_VALUE(%rax, %rcx), %rdx
	jne	copy_next
.endr
	add	$2 * WORD_SIZE, %ecx
	cmp	%r9d, %ecx
	jne	1b
	mov	KNOWN_NODE(%rax), %r9
	cmp	%r9, -COPY_NODE(%rsp)
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
	cmp	%rax, -COPY_FIRST(%rsp)
	jne	copy_not_first
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
	.globl	bp_stub_enter_copy
	.hidden	bp_stub_enter_copy
	.type	bp_stub_enter_copy, @function
bp_stub_enter_copy:
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
	jmp	bp_stub_left

	CFI_AT_ENTRY
copy_not_first:						/* it will be */
	mov	KNOWN_PLACE(%rax), %rcx
	mov	%rax, (%rcx)
	jmp	copy_found

/* Not like one before: rax = what it is. */
copy_new:
	mov	-COPY_NODE(%rsp), %r9
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
	jmp	bp_stub_slow_call
	.cfi_endproc
	.size	bp_stub_enter_copy, . - bp_stub_enter_copy

	.section .note.GNU-stack, "", @progbits
