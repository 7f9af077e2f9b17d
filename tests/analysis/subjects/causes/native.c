/* SPDX-License-Identifier: MIT
 * Calls the DSL over a picture: native ROUNDS. */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, WIDTH = 64 };

int main(int argc, char **argv) {
    static char picture[ROWS * WIDTH + 1];
    long sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < ROWS * WIDTH; i++)
        picture[i] = (char)('a' + i % 26);
    for (int i = 0; i < rounds; i++)
        sum += shift(picture, ROWS, i) + tally(picture, ROWS);
    printf("%ld\n", sum);
    return 0;
}
