/* SPDX-License-Identifier: MIT
 *
 * What tasks had of a thread's contexts, by how much these grew while the task ran.
 */
#ifndef BP_TOOLS_EXPORT_SHARE_H
#define BP_TOOLS_EXPORT_SHARE_H

#include "tools/model/model.h"

struct bp_task_share {
    uint32_t context;
    const char *task; /* its id, or its name: borrowed */
    double part;      /* of the context's self time in the thread, 0 to 1 */
};

struct bp_task_shares {
    struct bp_task_share *list; /* by context; behind the last one is one of BP_NO_NODE */
    uint32_t count;
};

/* Tasks in no other task of the thread, where their details were kept. */
void bp_task_shares_init(struct bp_task_shares *shares, const struct bp_model *model,
                         uint32_t thread);
void bp_task_shares_fini(struct bp_task_shares *shares);

/* The first of the context; NULL if no task had any of it. */
const struct bp_task_share *bp_task_shares_find(const struct bp_task_shares *shares,
                                                uint32_t context);

#endif
