/* SPDX-License-Identifier: MIT */
#include "short.h"

struct short_sums short_sums[SHORT_COUNT];

static unsigned chance(void) {
    static unsigned long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

/* Rounds that depend on one another take the same time wherever they are; what comes after does not
 * begin before their end. */
static void spend(enum short_function function, unsigned long rounds) {
    unsigned long x = rounds *= SHORT_SCALE;
    short_sums[function].rounds += rounds;
    short_sums[function].calls++;
    for (unsigned long i = 0; i < rounds; i++)
        __asm__ volatile("imul %0, %0" : "+r"(x));
    __asm__ volatile("lfence");
}

void short_empty(void) {
    short_sums[SHORT_empty].calls++;
}

void short_steady(void) {
    spend(SHORT_steady, 60);
}

void short_bimodal(void) {
    spend(SHORT_bimodal, chance() % 4 ? 20 : 300);
}

void short_heavy(void) {
    unsigned long rounds = 20;
    while (rounds < 5000 && chance() % 5 < 2)
        rounds *= 2;
    spend(SHORT_heavy, rounds);
}

void short_every16(void) {
    spend(SHORT_every16, short_sums[SHORT_every16].calls % 16 ? 10 : 500);
}

void short_every64(void) {
    spend(SHORT_every64, short_sums[SHORT_every64].calls % 64 ? 10 : 2000);
}

void short_outer(void) {
    spend(SHORT_outer, 30);
    short_steady();
}

void short_sort(int (*compare)(int)) {
    spend(SHORT_sort, 40);
    compare(1);
}

void short_deep(int depth) {
    void (*volatile again)(int) = short_deep; /* else it becomes a loop */
    spend(SHORT_deep, 50);
    if (depth)
        again(depth - 1);
}

void short_milli(void) {
    spend(SHORT_milli, 300000);
}

void short_tiny(void) {
    spend(SHORT_tiny, 3);
}

void short_phases(void) {
    spend(SHORT_phases, short_sums[SHORT_phases].calls >> 14 & 1 ? 200 : 20);
}

void short_turning(void) {
    spend(SHORT_turning, short_sums[SHORT_turning].calls % 3000 ? 20 : 8000);
}
