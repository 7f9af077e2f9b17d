/* SPDX-License-Identifier: MIT
 *
 * int target_i(void *, const void *, size_t, ...): the stub of a copy that may be known again, see
 * interpose/copy.h. It is the fast one of stub.S, and compares and counts more. A copy that is not
 * known is closed in C, which is given the caller's registers: struct bp_copy_frame.
 *
 * A clock reading takes 11 ns, and the processor goes on meanwhile with what comes after it, up to
 * some 80 instructions and 60 loads (measured). So what the call is like is compared before the
 * first reading, which is after the last one of the call before, and its path after it. No
 * argument of such a call is in a vector register: the stub uses some. That is 0.5 ns less than
 * memory for the size (xmm4) and the direction (xmm5).
 */
#include "interpose/stub.inc"

	.text

/* The stack while bp_copy_find runs: four registers, and what is parked. */
#define ASK_SIZE 144

/* The arguments that are in registers that ENTER uses. xmm4 = the size, xmm5 = the direction. */
.macro PARK
	mov	%rdx, -16(%rsp)
	mov	%rcx, -24(%rsp)
	mov	STUB_KIND(%r11), %eax
	sar	$31, %eax				/* whether an argument ... */
	and	%ecx, %eax				/* ... tells the direction */
	movq	%rdx, %xmm4
	movd	%eax, %xmm5
copy_parked:
.endm

/* A copy, of which r9 is the node, r10 the thread.
 * rax = the struct bp_copy_known that it is like, but perhaps for its path. Where to look follows
 * from what the caller gave, and not from the node: waiting for that would take 3 ns more. Of the
 * ring at that place the one that was found last comes first. */
.macro FIND_KNOWN
	mov	%rbx, -COPY_RBX(%rsp)
	mov	%rbp, -COPY_RBP(%rsp)
	movq	%xmm4, %rcx
	bsr	%rcx, %rcx
	jz	copy_new				/* it has none */
	movd	%xmm5, %eax
	mov	%rcx, %rdx
	shl	$COPY_SIZE_SHIFT, %rdx
	add	%rax, %rdx
	add	%rsp, %rdx				/* rdx = the key */
	mov	%esp, %eax
	shr	$COPY_GRAIN_SHIFT, %eax
	lea	(%rax, %rcx, COPY_SIZE_STEP), %ecx
	add	(%rsp), %ecx
	and	$COPY_PLACES - 1, %ecx
	mov	THREAD_LOCAL(%r10), %rax
	mov	LOCAL_KNOWN(%rax, %rcx, 8), %rax
	test	%rax, %rax
	jz	copy_new
	cmp	%rdx, KNOWN_KEY(%rax)
	jne	copy_other
	cmp	%r9, KNOWN_NODE(%rax)
	jne	copy_other
.endm

/* Whether the call that is open came by the path of the struct bp_copy_known at r9. */
.macro COMPARE_PATH other
	mov	bp_tables_unloaded(%rip), %ecx
	cmp	KNOWN_GENERATION(%r9), %ecx
	jne	\other
	mov	KNOWN_WORDS_SIZE(%r9), %ecx
	pcmpeqd	%xmm2, %xmm2
1:	movdqa	KNOWN_WORDS - PAIR_SIZE + PAIR_AT(%r9, %rcx), %xmm0	/* two addresses in one load */
	movq	%xmm0, %rax
	punpckhqdq %xmm0, %xmm0
	movq	%xmm0, %rdx
	movq	(%rax), %xmm1
	movhps	(%rdx), %xmm1
	pcmpeqd	KNOWN_WORDS - PAIR_SIZE + PAIR_VALUE(%r9, %rcx), %xmm1
	pand	%xmm1, %xmm2
	sub	$PAIR_SIZE, %ecx
	jnz	1b
	pmovmskb %xmm2, %ecx
	cmp	$0xffff, %ecx
	jne	\other
.endm

/* The call is open; r9 = its entry's source, what FIND_KNOWN found or what is not known. The return
 * address is off the stack: what was parked is 8 further down. */
.macro FIND_PATH
	test	$1, %r9b				/* not known */
	jnz	copy_call
	COMPARE_PATH copy_other_path
copy_known:
	movq	%xmm4, KNOWN_BYTES(%r9)
copy_call:
	mov	-24 - 8(%rsp), %rcx
	mov	-COPY_R9 - 8(%rsp), %r9			/* it is an argument if it was parked */
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

/* The call is open, and not by the path of r9: the others of that ring. */
copy_other_path:
	mov	%r9, %r10
	cmpl	$COPY_PYTHON, KNOWN_GENERATION(%r9)
	je	copy_ask
copy_next_path:
	mov	KNOWN_NEXT(%r9), %r9
	cmp	%r9, %r10
	je	copy_ask
	mov	KNOWN_KEY(%r10), %rdx
	cmp	%rdx, KNOWN_KEY(%r9)
	jne	copy_next_path
	mov	KNOWN_NODE(%r10), %rdx
	cmp	%rdx, KNOWN_NODE(%r9)
	jne	copy_next_path
	COMPARE_PATH copy_next_path
	mov	KNOWN_PLACE(%r9), %rdx
	mov	%r9, (%rdx)				/* it will be the first */
	mov	%r9, ENTRY_SOURCE(%rbx)
	jmp	copy_known
copy_ask:						/* r10 = the first of the ring */
	movq	%xmm4, %rdx
	lea	-ASK_SIZE(%rsp), %rsp			/* beyond what is parked */
	.cfi_def_cfa_offset ASK_SIZE + 8
	.cfi_escape 0x16, 7, 3, 0x77, ASK_SIZE & 0x7f | 0x80, ASK_SIZE >> 7	/* rsp = rsp + ASK_SIZE */
	mov	%rdi, (%rsp)
	mov	%rsi, 8(%rsp)
	mov	%r8, 16(%rsp)
	mov	%r11, 24(%rsp)
	movq	%xmm4, 32(%rsp)
	mov	%rbx, %rdi
	mov	%r10, %rsi
	call	bp_copy_find				/* (entry, known, bytes) */
	mov	(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %r8
	mov	24(%rsp), %r11
	movq	32(%rsp), %xmm4
	lea	ASK_SIZE(%rsp), %rsp
	CFI_IN_ENTRY
	mov	%rax, %r9
	test	$1, %r9b
	jz	copy_known
	jmp	copy_call

/* The call is not open yet, rdx its key, and it is not like the first of a ring, rax. */
	CFI_AT_ENTRY
copy_other:
	mov	%rax, -COPY_FIRST(%rsp)
copy_next:
	mov	KNOWN_NEXT(%rax), %rax
	cmp	%rax, -COPY_FIRST(%rsp)
	je	copy_new
	cmp	%rdx, KNOWN_KEY(%rax)
	jne	copy_next
	cmp	%r9, KNOWN_NODE(%rax)
	jne	copy_next
	mov	KNOWN_PLACE(%rax), %rcx
	mov	%rax, (%rcx)				/* it will be the first */
	jmp	copy_found

/* Not like one before: rax = what it is. */
copy_new:
	mov	THREAD_LOCAL(%r10), %rax
	cmpq	$0, LOCAL_COPIES(%rax)
	je	bail_copy
	mov	$1, %eax
	movd	%xmm5, %edx
	testb	$STUB_KIND_TOLD, STUB_KIND + 3(%r11)
	cmovnz	%edx, %eax
	lea	-1(%rax), %ecx
	cmp	$COPY_KINDS - 1, %ecx
	ja	bail_copy
	movq	%xmm4, %rdx
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
	mov	-COPY_R9(%rsp), %r9
	jmp	bp_stub_slow_call

/* A copy that is not plain, r10 is 16 times its shape: its size and direction are elsewhere. */
	.globl	bp_stub_enter_shape
	.hidden	bp_stub_enter_shape
bp_stub_enter_shape:
	mov	%rdx, -16(%rsp)
	mov	%rcx, -24(%rsp)
	mov	%r8, -COPY_R8(%rsp)
	mov	%r9, -COPY_R9(%rsp)
	movq	$1, -COPY_ONE(%rsp)
	shr	$4, %r10d
	lea	bp_copy_places(%rip), %rdx
	lea	(%rdx, %r10, PLACES_SIZE), %rdx
	movsbq	PLACES_WIDTH(%rdx), %rax
	movsbq	PLACES_HEIGHT(%rdx), %rcx
	movsbq	PLACES_KIND(%rdx), %rdx
	mov	(%rsp, %rax), %rax
	imul	(%rsp, %rcx), %rax
	jo	bail_copy
	movq	%rax, %xmm4
	mov	STUB_KIND(%r11), %eax
	sar	$31, %eax
	and	(%rsp, %rdx), %eax
	movd	%eax, %xmm5
	jmp	copy_parked
	.cfi_endproc
	.size	bp_stub_enter_copy, . - bp_stub_enter_copy

	.section .note.GNU-stack, "", @progbits
