/* SPDX-License-Identifier: MIT
 *
 * Calls all functions of short.h in turn, argv[1] rounds, and prints what each knows of itself.
 * With a second argument it says "at work" before the last round and then dies by SIGKILL.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "short.h"

static int compare(int x) {
    short_steady();
    return x;
}

static void once(long number) {
    short_empty();
    short_steady();
    short_bimodal();
    short_heavy();
    short_every16();
    short_every64();
    short_outer();
    short_sort(compare);
    short_deep((int)(number % 4));
    short_tiny();
    short_phases();
    short_turning();
    if (number % 4000 == 0)
        short_milli();
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    for (long i = 0; i < rounds; i++)
        once(i);
#define PRINT(name)                                                                                \
    printf("short_" #name " %lu %lu\n", short_sums[SHORT_##name].rounds,                           \
           short_sums[SHORT_##name].calls);
    SHORT_FUNCTIONS(PRINT)
    fflush(stdout);
    if (argc > 2)
        raise(SIGKILL);
    return 0;
}
