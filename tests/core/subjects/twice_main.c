/* SPDX-License-Identifier: MIT
 *
 * e2e_twice ROUNDS TURN FOLD MORE: solves ROUNDS times with turn() and fold() at these per cent of
 * their work, and calls mirror() MORE times besides.
 */
#include <stdio.h>
#include <stdlib.h>

#include "twice.h"

int main(int argc, char **argv) {
    unsigned seed = 1;
    if (argc < 5)
        return 2;
    twice_set(atoi(argv[2]), atoi(argv[3]));
    for (int k = atoi(argv[1]); k > 0; k--)
        seed = solve(seed);
    for (int k = atoi(argv[4]); k > 0; k--)
        seed = mirror(seed);
    printf("%u\n", seed);
    return 0;
}
