/* SPDX-License-Identifier: MIT
 *
 *     void bp_arch_signal_return(void);
 *
 * Where the kernel has a signal handler return to: rt_sigreturn, system call 15. Unwinders know the
 * frame of a signal by these very bytes, and look one byte before its address, as for any return
 * address: hence the nop.
 */
	.text
	.type	bp_arch_signal_return, @function
	nop
	.globl	bp_arch_signal_return
	.hidden	bp_arch_signal_return
bp_arch_signal_return:
	mov	$15, %rax
	syscall
	.size	bp_arch_signal_return, . - bp_arch_signal_return
	.section .note.GNU-stack, "", @progbits
