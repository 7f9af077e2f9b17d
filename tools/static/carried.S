/* SPDX-License-Identifier: MIT
 *
 * What pack.py made, as it is; the build defines BP_CARRIED as its path.
 */
    .section .rodata
    .balign 64
    .globl bp_carried_begin
    .hidden bp_carried_begin
    .type bp_carried_begin, @object
bp_carried_begin:
    .incbin BP_CARRIED
    .size bp_carried_begin, . - bp_carried_begin

    .section .note.GNU-stack, "", @progbits
