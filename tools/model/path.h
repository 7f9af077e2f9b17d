/* SPDX-License-Identifier: MIT
 *
 * What one sampled stack says: whose time it was, what for, and who asked for it.
 */
#ifndef BP_TOOLS_MODEL_PATH_H
#define BP_TOOLS_MODEL_PATH_H

#include "tools/model/stack.h"

struct bp_path_step {
    uint32_t function;
    enum bp_code code;
};

/* From the innermost function outward: what was sampled within the node's own time, then the calls
 * of the ledger around it. */
struct bp_path {
    struct bp_path_step *steps;
    uint32_t count;
    uint32_t room;
    uint32_t inner;    /* steps that belong to the node's own time */
    uint32_t function; /* of the node */
};

/* Answers about a path. */
struct bp_path_view {
    uint32_t owner;  /* the function that the time is charged to */
    uint32_t caller; /* of the owner; BP_NO_FUNCTION if unknown */
    uint32_t user;   /* nearest function around the owner that may be the user's, or none */
    const char *group;
    uint32_t group_caller; /* the nearest caller outside the group */
};

/* Reads a stack of `thread`, whose frames are `frames`; the path's memory is used again. */
void bp_path_read(struct bp_path *path, const struct bp_model *model,
                  const struct bp_profile_thread *thread, const struct bp_stack_frame *frames,
                  const struct bp_sample *sample, uint32_t context);

void bp_path_fini(struct bp_path *path);

struct bp_path_view bp_path_view(const struct bp_path *path, const struct bp_model *model);

#endif
