/* SPDX-License-Identifier: MIT
 * A DSL function that clears a buffer of which it uses a few bytes. */
#include "native.h"

#include <string.h>

/* A compiler cache must not take the object of another directory: its source is read. */
__attribute__((used)) static const char built_in[] = BUILT_IN;

/* Clearing the room takes several times as long as the rest: two runs then differ enough. */
enum { USED = 8, ROOM = 1 << 18 }; /* characters of a row that are looked at; bytes */
static char buffer[ROOM];

long shift(char *picture, int rows, int by) {
    long sum = 0;
    memset(buffer, by, sizeof(buffer)); /* planted */
    for (int i = 0; i < rows * USED; i++) {
        buffer[i] = (char)('a' + (picture[i] + by) % 26);
        sum += buffer[i];
    }
    return sum;
}

long tally(const char *picture, int rows) {
    long sum = 0;
    for (int i = 0; i < rows * USED; i++)
        sum = sum * 31 + picture[i] % 7;
    return sum;
}
