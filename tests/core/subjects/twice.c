/* SPDX-License-Identifier: MIT
 *
 * See twice.h. solve() calls all the others, so its total changes with theirs and its self time
 * does not.
 */
#include "twice.h"

static struct { int turn, fold; } state = {100, 100};

void twice_set(int turn_percent, int fold_percent) {
    state.turn = turn_percent;
    state.fold = fold_percent;
}

static unsigned spin(unsigned seed, int rounds) {
    for (int k = 0; k < rounds; k++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

unsigned turn(unsigned seed) {
    return spin(seed, 60 * state.turn);
}

unsigned fold(unsigned seed) {
    return spin(seed ^ 5, 30 * state.fold);
}

unsigned paint(unsigned seed) {
    static _Thread_local unsigned cells[4096];
    for (unsigned k = 0; k < 4096; k++)
        cells[(k * 61) & 4095] += seed ^ k;
    return cells[seed & 4095];
}

unsigned walk(unsigned seed) {
    return spin(seed ^ 7, 4000);
}

unsigned tiny(unsigned seed) {
    return spin(seed, 20);
}

unsigned count(unsigned seed) {
    unsigned bits = 0;
    for (unsigned k = 0; k < 2500; k++)
        bits += (unsigned)__builtin_popcount(seed ^ k * 2654435761u);
    return bits;
}

unsigned mirror(unsigned seed) {
    for (int k = 0; k < 1500; k++)
        seed = (seed << 7 | seed >> 25) ^ (seed / (unsigned)(k + 3));
    return seed;
}

unsigned solve(unsigned seed) {
    for (int k = 0; k < 8; k++)
        seed = tiny(turn(fold(paint(walk(count(mirror(seed)))))));
    return spin(seed, 8000);
}
