/* SPDX-License-Identifier: MIT
 *
 * Eight functions of a DSL that do as much work as they are told.
 */
#include "spin.h"

static unsigned work(unsigned seed, unsigned rounds) {
    for (unsigned k = 0; k < rounds; k++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

#define SPIN(number)                                                                               \
    unsigned spin##number(unsigned seed, unsigned rounds) {                                        \
        return work(seed ^ number, rounds);                                                        \
    }
SPIN(0)
SPIN(1)
SPIN(2)
SPIN(3)
SPIN(4)
SPIN(5)
SPIN(6)
SPIN(7)
