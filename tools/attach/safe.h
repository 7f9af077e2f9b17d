/* SPDX-License-Identifier: MIT
 *
 * May a stopped thread be made to call dlopen? Not while it holds a lock that dlopen needs: the
 * loader's, the allocator's, those of fork and exit.
 */
#ifndef BP_TOOLS_ATTACH_SAFE_H
#define BP_TOOLS_ATTACH_SAFE_H

#include "tools/attach/frames.h"

struct bp_safe_calls; /* functions of the C library in which a thread may be */

struct bp_safe_calls *bp_safe_calls_new(const struct bp_objects *objects);
void bp_safe_calls_free(struct bp_safe_calls *calls);

/* NULL, or why not: "it is in the dynamic loader". */
const char *bp_safe_refusal(const struct bp_safe_calls *calls, const struct bp_objects *objects,
                            const struct bp_frames *frames);

#endif
