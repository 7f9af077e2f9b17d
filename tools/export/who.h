/* SPDX-License-Identifier: MIT
 *
 * Numbers and names of processes and threads, for formats that tell them apart by their numbers:
 * in containers, and on several machines, many are process 1.
 */
#ifndef BP_TOOLS_EXPORT_WHO_H
#define BP_TOOLS_EXPORT_WHO_H

#include "tools/model/model.h"

struct bp_who {
    const struct bp_model *model;
    uint32_t *pids; /* per process: its own, or one that no other has */
    uint32_t *tids; /* per thread */
};

void bp_who_init(struct bp_who *who, const struct bp_model *model);
void bp_who_fini(struct bp_who *who);

/* ", rank 3 on node1", as far as processes of the run differ in that; a new text, not of UTF-8. */
char *bp_who_place(const struct bp_model *model, uint32_t process);
/* "run_batt, rank 3 on node1", with the true number where it was replaced: as above. */
char *bp_who_name(const struct bp_who *who, uint32_t process);

#endif
