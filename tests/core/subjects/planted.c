/* SPDX-License-Identifier: MIT
 *
 * A pipeline with one planted problem: tasks, batt(id), that solve with the small DSL, and code
 * generation, expand_solver(id), in a library of its own so that calls go through slots.
 */
#include "planted.h"
#include "twice.h"

static unsigned result;

void batt(const char *id, int rounds) {
    (void)id;
    for (int k = 0; k < rounds; k++)
        result += solve((unsigned)k);
}

void expand_solver(const char *id, int rounds) {
    for (int k = 0; k < rounds; k++)
        for (const char *c = id; *c; c++)
            result = result * 31 + (unsigned)*c;
}
