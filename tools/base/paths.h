/* SPDX-License-Identifier: MIT
 *
 * Paths that match a pattern, as glob(3) finds them. That one asks for the homes of users, and with
 * it a static command would need the name service of the machine that it was built on.
 */
#ifndef BP_TOOLS_BASE_PATHS_H
#define BP_TOOLS_BASE_PATHS_H

#include <stdint.h>

struct bp_paths {
    char **path;
    uint32_t count;
};

/* Adds those that exist, sorted, behind what is there. `*`, `?` and `[…]` match within one name and
 * never a dot at its beginning. */
void bp_paths_add(struct bp_paths *paths, const char *pattern);

void bp_paths_fini(struct bp_paths *paths);

#endif
