/* SPDX-License-Identifier: MIT
 *
 * `battprof import`: the readers of foreign traces. Each fills a trace and returns 0, or -1 with
 * the error set. What a file lacks is a part of trace->missing, not an error, as long as something
 * is left to show.
 */
#ifndef BP_TOOLS_IMPORT_H
#define BP_TOOLS_IMPORT_H

#include <jansson.h>

#include "tools/trace.h"

/* An SQLite export of Nsight Systems. */
int bp_import_nsys(struct bp_trace *trace, const char *path, struct bp_error *error);

/* JSON of the PyTorch profiler (Kineto), also compressed by gzip. */
int bp_import_kineto(struct bp_trace *trace, const char *path, struct bp_error *error);

/* A JSON file, also compressed. Of one that was cut, the events up to there, with a part of
 * trace->missing that says so. New; NULL with the error set. */
json_t *bp_import_json(struct bp_trace *trace, const char *path, struct bp_error *error);

#endif
