/* SPDX-License-Identifier: MIT
 *
 * spin CALLS ROUNDS...: calls each of the eight functions CALLS times, with its own rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

int main(int argc, char **argv) {
    static unsigned (*const spins[SPINS])(unsigned, unsigned) = {spin0, spin1, spin2, spin3,
                                                                 spin4, spin5, spin6, spin7};
    unsigned seed = 1;
    if (argc != 2 + SPINS)
        return 2;
    for (int call = atoi(argv[1]); call > 0; call--)
        for (int i = 0; i < SPINS; i++)
            seed = spins[i](seed, (unsigned)atoi(argv[2 + i]));
    printf("%u\n", seed);
    return 0;
}
