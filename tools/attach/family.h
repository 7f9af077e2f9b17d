/* SPDX-License-Identifier: MIT
 *
 * The processes that a process has started, and those that they have.
 */
#ifndef BP_TOOLS_ATTACH_FAMILY_H
#define BP_TOOLS_ATTACH_FAMILY_H

#include <stdint.h>
#include <sys/types.h>

struct bp_family {
    pid_t *pids; /* parents before their children */
    uint32_t count;
};

void bp_family_init(struct bp_family *family, pid_t pid);
void bp_family_fini(struct bp_family *family);

#endif
