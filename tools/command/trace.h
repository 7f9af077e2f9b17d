/* SPDX-License-Identifier: MIT
 *
 * Traces of other tools where a profile is expected: `battprof report trace.sqlite`. The profile is
 * made in memory; nothing is written beside the trace, which may be in a place of others.
 */
#ifndef BP_TOOLS_COMMAND_TRACE_H
#define BP_TOOLS_COMMAND_TRACE_H

#include <stdbool.h>

#include "tools/base/error.h"

/* The file begins as a trace does that can be imported. */
bool bp_trace_is(const char *path);
/* A path of its profile, which lives as long as this process: a new text; NULL with the error set.
 */
char *bp_trace_open(const char *path, struct bp_error *error);

#endif
