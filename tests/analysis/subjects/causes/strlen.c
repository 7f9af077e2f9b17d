/* SPDX-License-Identifier: MIT
 * A DSL function that asks for the length of its text in every round of a loop. */
#include "native.h"

#include <string.h>

/* A compiler cache must not take the object of another directory: its source is read. */
__attribute__((used)) static const char built_in[] = BUILT_IN;

enum { WIDTH = 64 };
static volatile size_t length;

long shift(char *picture, int rows, int by) {
    long sum = 0;
    for (int i = 0; i < rows * WIDTH; i++) {
        length = strlen(picture); /* planted */
        picture[i] = (char)('a' + (picture[i] + by) % 26);
        sum += picture[i];
    }
    return sum;
}

long tally(const char *picture, int rows) {
    long sum = 0;
    for (int i = 0; i < rows * WIDTH; i++)
        sum = sum * 31 + picture[i] % 7;
    return sum;
}
