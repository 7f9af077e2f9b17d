/* SPDX-License-Identifier: MIT
 *
 * Stands for nsys.c in a build without SQLite.
 */
#include "tools/import/import.h"

int bp_import_nsys(struct bp_trace *trace, const char *path, struct bp_error *error) {
    (void)trace;
    return bp_error_set(error, BP_FAILED,
                        "%s: a trace of Nsight Systems, but this battprof is built without SQLite",
                        path);
}
