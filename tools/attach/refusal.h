/* SPDX-License-Identifier: MIT
 *
 * Which processes cannot load our library, and why.
 */
#ifndef BP_TOOLS_ATTACH_REFUSAL_H
#define BP_TOOLS_ATTACH_REFUSAL_H

#include "tools/attach/attach.h"
#include "tools/attach/objects.h"

/* Before its memory is read: a new sentence, or NULL. */
char *bp_refusal_of_process(pid_t pid);
/* Why none of its threads may be borrowed. */
char *bp_refusal_of_ptrace(pid_t pid);
/* Why the process's own objects forbid it. */
char *bp_refusal_of_objects(const struct bp_objects *objects,
                            const struct bp_attach_request *request);

#endif
