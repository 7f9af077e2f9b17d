/* SPDX-License-Identifier: MIT
 *
 * `battprof import`: the readers of foreign traces. Each fills a trace and returns 0, or -1 with
 * the error set. What a file lacks is a part of trace->missing, not an error, as long as something
 * is left to show.
 */
#ifndef BP_TOOLS_IMPORT_IMPORT_H
#define BP_TOOLS_IMPORT_IMPORT_H

#include <jansson.h>

#include "tools/import/trace.h"

/* An SQLite export of Nsight Systems. */
int bp_import_nsys(struct bp_trace *trace, const char *path, struct bp_error *error);

/* JSON of the PyTorch profiler (Kineto), also compressed by gzip. */
int bp_import_kineto(struct bp_trace *trace, const char *path, struct bp_error *error);

/* With `key` a member of the outermost object, with NULL one of the events: borrowed. */
typedef void bp_import_fn(void *data, const char *key, const json_t *value);

/* Chrome's trace events, also compressed, in the order of the file. What is cut or no JSON is left
 * out and said in trace->missing. 0, or -1 with the error set. */
int bp_import_json(struct bp_trace *trace, const char *path, bp_import_fn *take, void *data,
                   struct bp_error *error);

#endif
