/* SPDX-License-Identifier: MIT
 *
 * Processes by what they were for, and by machine: part of tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_ROLE_H
#define BP_TOOLS_MODEL_ROLE_H

#include <stdint.h>

#include "tools/rules/rules.h"

/* All processes of a kind: "main", "forked worker", "shell", …; other programs by their name. */
struct bp_role {
    const char *name;
    uint32_t processes; /* programs, where one process ran several */
    uint32_t threads;
    double lifetime_s;
    double thread_s;
    double waiting_s;
    double wall_s;
    double idle_s;                    /* wall in which they waited and nobody was busy */
    double category_s[BP_CATEGORIES]; /* thread-seconds */
};

/* A machine, from one start of it to the next: within it all clocks agree. */
struct bp_machine {
    const char *host;
    const char *boot_id;
    uint32_t processes;
    uint32_t threads;
    double start_s; /* of its first process, and the end of its last: CLOCK_REALTIME */
    double end_s;
    double thread_s;
    double wall_s; /* wall split of its runs */
    double idle_s;
    double category_s[BP_CATEGORIES];
};

#endif
