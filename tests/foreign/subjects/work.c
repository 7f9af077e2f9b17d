/* SPDX-License-Identifier: MIT
 *
 * A library of a program's own.
 */
#include "tests/foreign/subjects/work.h"

unsigned work_mix(unsigned seed) {
    for (unsigned i = 0; i < 4000000; i++)
        seed = seed * 1664525u + 1013904223u + (seed >> 13);
    return seed;
}

unsigned work_check(unsigned seed) {
    return seed ^ 0x5a5a5a5au;
}
