/* SPDX-License-Identifier: MIT
 *
 * The lists that groups are made of, while they are made: the model's functions, and each group's.
 * While a list is built error_s is a variance, which can be added.
 */
#ifndef BP_TOOLS_MODEL_PART_H
#define BP_TOOLS_MODEL_PART_H

#include "tools/model/internal.h"

/* Without padding: it is a key. */
struct bp_part_key {
    uint32_t function; /* BP_NO_FUNCTION: the total of a group */
    uint32_t category;
    uint32_t kind;
};

struct bp_part_lists {
    struct bp_model *model;
    struct bp_keys groups;
    struct bp_keys parts;
    struct bp_keys callers;
    struct bp_keys users;
    uint32_t *part_place; /* index within its list */
    uint32_t *caller_place;
    uint32_t *user_place;
};

/* Adds a part to a group, or with NULL to the model's list. */
void bp_part_lists_add(struct bp_part_lists *lists, const char *group, const struct bp_part *part);
/* Adds time that a caller is responsible for. */
void bp_part_lists_call(struct bp_part_lists *lists, const char *group,
                        const struct bp_part_key *key, uint32_t caller, double s);
/* Adds time to a part of the model's list that a function of the user's is responsible for. */
void bp_part_lists_use(struct bp_part_lists *lists, const struct bp_part_key *key, uint32_t user,
                       double s);
/* Sorts everything, turns variances into errors and frees what is not the model's. */
void bp_part_lists_finish(struct bp_part_lists *lists);

#endif
