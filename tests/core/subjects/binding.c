/* SPDX-License-Identifier: MIT
 *
 * Reaches one library in every way that a linker knows. Built lazy, -z now, -fno-plt and no-PIE:
 * the same output and the same counts are wanted of all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

/* R_X86_64_64 in data, and in data that RELRO makes read-only. */
static work_binary *table[] = {work_add, work_sub};
static work_binary *const const_table[] = {work_sub, work_add, work_sub};
struct operation {
    const char *name;
    work_binary *run;
};
static const struct operation operations[] = {{"add", work_add}, {"sub", work_sub}};

static int by_pointer(work_binary *f, int times) {
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum += f(sum, i);
    return sum;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = work_add(sum, i);
    printf("direct %d\n", sum);

    work_binary *volatile pointer = work_add; /* GLOB_DAT, or this program's own PLT entry */
    printf("pointer %d\n", by_pointer(pointer, 12));
    for (int i = 0; i < 2; i++)
        printf("table %d\n", by_pointer(table[i], 10));
    for (int i = 0; i < 3; i++)
        printf("const %d\n", by_pointer(const_table[i], 7));
    for (int i = 0; i < 2; i++)
        printf("%s %d\n", operations[i].name, by_pointer(operations[i].run, 5));

    /* One function has one address, in this program and in the library. */
    printf("equal %d %d %d\n", pointer == work_address(), table[0] == pointer,
           const_table[1] == work_address());
    printf("library %d\n", by_pointer(work_address(), 9));

    int numbers[200];
    for (int i = 0; i < 200; i++)
        numbers[i] = i * 7919 % 200;
    qsort(numbers, 200, sizeof(int), work_compare);
    for (int i = 1; i < 200; i++)
        if (numbers[i - 1] > numbers[i])
            printf("not sorted at %d\n", i);
    printf("tail %d\n", work_tail(3, 4));
    return 0;
}
