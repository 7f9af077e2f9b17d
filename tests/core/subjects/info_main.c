/* SPDX-License-Identifier: MIT
 *
 * Uses a function of a Haskell library as GHC's code does.
 */
#include <stdio.h>

extern void info_entry(void);

/* Jumps there with 7 in rbx and the place to go on in rbp. */
static long enter(void (*code)(void)) {
    long result;
    __asm__ volatile("sub $128, %%rsp\n" /* the red zone */
                     "push %%rbp\n"
                     "push %%rbx\n"
                     "mov $7, %%ebx\n"
                     "lea 1f(%%rip), %%rbp\n"
                     "jmp *%%rcx\n"
                     "1: pop %%rbx\n"
                     "pop %%rbp\n"
                     "add $128, %%rsp\n"
                     : "=a"(result)
                     : "c"(code)
                     : "memory");
    return result;
}

int main(void) {
    void (*volatile code)(void) = info_entry; /* the compiler must not reason about its bounds */
    const long *table = (const long *)code - 1;
    printf("%ld %ld\n", *table, enter(code));
    return 0;
}
