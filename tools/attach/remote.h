/* SPDX-License-Identifier: MIT
 *
 * CPython from 3.14 on runs a script that another process asks it to: its main thread does so where
 * it could run a signal's handler, and nobody is stopped. What sys.remote_exec does, without a
 * Python on our side.
 */
#ifndef BP_TOOLS_ATTACH_REMOTE_H
#define BP_TOOLS_ATTACH_REMOTE_H

#include <stdbool.h>

#include "tools/attach/attach.h"
#include "tools/attach/objects.h"

/* Whether the interpreter has tried to load the library: it may have no ctypes. False: it is no
 * such Python, does not allow it, or has not come to it in time, as one that waits in a call; then
 * it will not do it any more. */
bool bp_remote_load(const struct bp_objects *objects, const struct bp_attach_request *request,
                    struct bp_attach_result *result);

/* The same without doing it: NULL, or why not. */
const char *bp_remote_refusal(const struct bp_objects *objects);

#endif
