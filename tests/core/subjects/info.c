/* SPDX-License-Identifier: MIT
 *
 * What GHC compiles looks like this: a table in front of the code, found by the function's address,
 * and functions that end by a jump with their argument in rbx.
 */
__asm__(".pushsection .text\n"
        ".globl info_entry\n"
        ".type info_entry, @function\n"
        ".balign 8\n"
        ".quad 4242\n"
        "info_entry:\n"
        "    lea 1(%rbx), %rax\n"
        "    jmp *%rbp\n"
        ".size info_entry, . - info_entry\n"
        ".popsection\n");
