/* SPDX-License-Identifier: MIT
 *
 * Between priority.c and priority_framework.c.
 */
#ifndef BP_TOOLS_ANALYZE_PRIORITY_INTERNAL_H
#define BP_TOOLS_ANALYZE_PRIORITY_INTERNAL_H

#include "tools/analyze/priority.h"

void bp_priority_framework(struct bp_priorities *priorities, const struct bp_model *model,
                           const struct bp_levels *levels);

#endif
