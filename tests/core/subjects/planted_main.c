/* SPDX-License-Identifier: MIT
 *
 * e2e_planted LONGEST AGAIN: 20 tasks, one of which does LONGEST times what the others do, and code
 * generation AGAIN times for each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "planted.h"

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    for (int k = 0; k < 20; k++) {
        char id[16];
        snprintf(id, sizeof id, "task%02d", k);
        for (int again = atoi(argv[2]); again > 0; again--)
            expand_solver(id, 300000);
        batt(id, k == 13 ? 20 * atoi(argv[1]) : 20);
    }
    return 0;
}
