/* SPDX-License-Identifier: MIT
 *
 * The wall by whose code it was: part of tools/model/model.h, which includes it. It is the headline
 * of a run in which nothing was named as the DSL and none was found. The rows sum to the wall.
 */
#ifndef BP_TOOLS_MODEL_OWNER_SPLIT_H
#define BP_TOOLS_MODEL_OWNER_SPLIT_H

#include <stdbool.h>

enum bp_split_row {
#define ROW(id, key, name) BP_SPLIT_##id,
#include "tools/model/owner/split.def"
#undef ROW
    BP_SPLIT_ROWS
};

struct bp_split_time {
    double wall_s;
    double thread_s;
};

struct bp_owner_split {
    bool leads; /* it is the headline */
    struct bp_split_time rows[BP_SPLIT_ROWS];
};

struct bp_function;
struct bp_model;
struct bp_pools;

/* After the owners are known. */
void bp_model_split_by_owner(struct bp_model *model, const struct bp_pools *pools);

/* The row that a function's own time is in, whatever it was for. */
enum bp_split_row bp_split_row_of(const struct bp_function *function);

/* "yours" of the JSON report, "your code" of a page. */
const char *bp_split_key(enum bp_split_row row);
const char *bp_split_name(enum bp_split_row row);

/* Unknown is what is not to be seen in a headline: an inexact sum. */
bool bp_split_is_shown(const struct bp_model *model, enum bp_split_row row);

#endif
