/* SPDX-License-Identifier: MIT
 *
 * Ten lines of one function with known shares of its CPU time: lines SECONDS. Prints the shares as
 * each line has measured them, with its number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT 10

/* A compiler cache must not take the object of another directory: its source is read. */
__attribute__((used)) static const char built_in[] = BUILT_IN;

static volatile double sink;
static double spent[COUNT];
static int number[COUNT];

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* All of it is one line of the function. */
#define SPEND(i, units)                                                                            \
    do {                                                                                           \
        double before = cpu_s();                                                                   \
        for (long k = 0; k < (units); k++)                                                         \
            sink += sqrt((double)k);                                                               \
        spent[i] += cpu_s() - before;                                                              \
        number[i] = __LINE__;                                                                      \
    } while (0)

__attribute__((noinline)) static void ten(long units) {
    SPEND(0, units);
    SPEND(1, 2 * units);
    SPEND(2, 3 * units);
    SPEND(3, 4 * units);
    SPEND(4, 5 * units);
    SPEND(5, 7 * units);
    SPEND(6, 10 * units);
    SPEND(7, 12 * units);
    SPEND(8, 16 * units);
    SPEND(9, 40 * units);
}

int main(int argc, char **argv) {
    double end = cpu_s() + (argc > 1 ? atof(argv[1]) : 1), total = 0;
    /* Lengths that vary: samples of rounds as long as a tick would all be at the same place. */
    for (long units = 10000; cpu_s() < end; units = 10000 + (units + 7919) % 20000)
        ten(units);
    for (int i = 0; i < COUNT; i++)
        total += spent[i];
    for (int i = 0; i < COUNT; i++)
        printf("%d %.4f\n", number[i], 100 * spent[i] / total);
    return 0;
}
