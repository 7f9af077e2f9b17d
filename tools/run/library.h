/* SPDX-License-Identifier: MIT
 *
 * Where libbattprof.so is, for LD_PRELOAD: what BATTPROF_LIB names; else beside the running command
 * (build tree, then install tree), else in the configured libdir; else, if the command carries it,
 * unpacked in the user's cache, else in memory for the life of the run.
 */
#ifndef BP_TOOLS_RUN_LIBRARY_H
#define BP_TOOLS_RUN_LIBRARY_H

#include "tools/base/error.h"
#include "tools/run/holder.h"

enum bp_library_place {
    BP_LIBRARY_WISHED, /* BATTPROF_LIB */
    BP_LIBRARY_FOUND,
    BP_LIBRARY_CACHED,
    BP_LIBRARY_HELD, /* in memory */
};

struct bp_library {
    char *path; /* absolute: children may run in another directory */
    enum bp_library_place place;
    char *refused; /* why it is not in the cache, if it is held; else NULL */
    char *link;    /* LD_PRELOAD is split at blanks and colons: a link without them, in /tmp */
    struct bp_holder holder;
};

/* 0, or -1 with the error set. */
int bp_library_open(struct bp_library *library, struct bp_error *error);
/* What to preload: borrowed. */
const char *bp_library_get(const struct bp_library *library);
void bp_library_close(struct bp_library *library);

/* The path of a file that stays when we are gone: a new text, or NULL with the error set. */
char *bp_library_find(struct bp_error *error);

/* The folder of the simulated CUDA libraries: a new text, or NULL with the error set. */
char *bp_library_find_sim(struct bp_error *error);

#endif
