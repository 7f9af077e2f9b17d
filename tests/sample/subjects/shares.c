/* SPDX-License-Identifier: MIT
 *
 * Ten functions with known shares of the CPU time: shares SECONDS [UNITS ROUNDS]. Rounds of some
 * 50 ms, in changing order, so that no clock runs in step with them. Prints the shares as measured
 * around each call. With UNITS and ROUNDS the work is fixed, to measure what sampling costs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIST(X) X(1) X(2) X(3) X(4) X(5) X(7) X(10) X(12) X(16) X(40)

static volatile double sink;

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define FUNCTION(n)                                                                                \
    __attribute__((noinline)) void share_##n(long units) {                                         \
        for (long i = 0; i < n * units; i++)                                                       \
            sink += sqrt((double)i);                                                               \
    }
#define DECLARE(n) void share_##n(long units);
LIST(DECLARE)
LIST(FUNCTION)

static const struct {
    const char *name;
    void (*function)(long);
} functions[] = {
#define ROW(n) {"share_" #n, share_##n},
    LIST(ROW)
#undef ROW
};
#define COUNT (sizeof functions / sizeof *functions)

int main(int argc, char **argv) {
    double spent[COUNT] = {0}, end = argc > 1 ? atof(argv[1]) : 1, total = 0;
    double start = cpu_s();
    share_1(1000000);
    long units = (long)(1e6 * 0.0005 / (cpu_s() - start)); /* 0.5 ms */
    unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    if (rounds)
        units = atol(argv[2]);
    for (unsigned round = 0; rounds ? round < rounds : cpu_s() - start < end; round++)
        for (size_t k = 0; k < COUNT; k++) {
            size_t i = (7 * k + 3 * round) % COUNT;
            double before = cpu_s();
            functions[i].function(units + (long)(round * 37 % 100) * units / 1000);
            spent[i] += cpu_s() - before;
        }
    for (size_t i = 0; i < COUNT; i++)
        total += spent[i];
    for (size_t i = 0; i < COUNT; i++)
        printf("%s %.4f\n", functions[i].name, 100 * spent[i] / total);
    return 0;
}
