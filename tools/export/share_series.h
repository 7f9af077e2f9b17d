/* SPDX-License-Identifier: MIT
 *
 * What the running tasks are made of, over time. A task counts with its own mean from its start to
 * its end: when within it a category had its time is not recorded.
 */
#ifndef BP_TOOLS_EXPORT_SHARE_SERIES_H
#define BP_TOOLS_EXPORT_SHARE_SERIES_H

#include "tools/model/model.h"

struct bp_share_point {
    double time_s;
    double category[BP_CATEGORIES]; /* threads' worth: two tasks that are all DSL are 2 */
};

typedef void bp_share_visit(const struct bp_share_point *point, void *data);

/* A point for each instant at which a task with details begins or ends. */
void bp_share_series(const struct bp_model *model, bp_share_visit *visit, void *data);

#endif
