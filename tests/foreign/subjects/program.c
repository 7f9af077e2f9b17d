/* SPDX-License-Identifier: MIT
 *
 * A C program with a library of its own.
 */
#include <stdio.h>

#include "tests/foreign/subjects/work.h"

int main(void) {
    unsigned seed = 1;
    for (int i = 0; i < 120; i++)
        seed = work_check(work_mix(seed));
    printf("%u\n", seed);
    return 0;
}
