/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": for mistyped subcommands, options, option values and keys of rule files.
 */
#ifndef BP_TOOLS_BASE_NEAREST_H
#define BP_TOOLS_BASE_NEAREST_H

#include <stddef.h>

struct bp_nearest {
    const char *word; /* what the user wrote */
    const char *best; /* NULL while nothing is near enough to be worth suggesting */
    size_t distance;
    size_t
        alike; /* letters that both begin with: of equally near words the one with more is meant */
};

/* Offers one candidate (not NULL); start with `struct bp_nearest n = {.word = …}`. The candidate
 * is borrowed. */
void bp_nearest_offer(struct bp_nearest *nearest, const char *candidate);

#endif
