/* SPDX-License-Identifier: MIT
 *
 * Where a report is written to: a stream of the caller's, or the file that -o names. What could not
 * be written is an error in either case, and leaves no half of a file: it is written beside its
 * place and takes it when it is complete.
 */
#ifndef BP_TOOLS_BASE_DESTINATION_H
#define BP_TOOLS_BASE_DESTINATION_H

#include <stdio.h>

#include "tools/base/error.h"

struct bp_destination {
    const char *path; /* borrowed; NULL: the caller's stream */
    char *beside;     /* ours; NULL: the path itself is written to, a device or a link */
    FILE *out;
    bool quiet; /* it is not said that it was written */
};

/* 0, or -1 with the error set. */
int bp_destination_open(struct bp_destination *destination, const char *path, FILE *otherwise,
                        struct bp_error *error);

/* `result` is that of the writing: not 0 if it failed. `what` is "the report". */
int bp_destination_close(struct bp_destination *destination, int result, const char *what,
                         struct bp_error *error);

#endif
