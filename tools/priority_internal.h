/* SPDX-License-Identifier: MIT
 *
 * Shared by priority.c, priority_framework.c and what prints them.
 */
#ifndef BP_TOOLS_PRIORITY_INTERNAL_H
#define BP_TOOLS_PRIORITY_INTERNAL_H

#include "tools/priority.h"

/* A launch and two small copies: what one use of the device costs at least. */
double bp_device_latency(const struct bp_device_cost *device);

void bp_priority_framework(struct bp_priorities *priorities, const struct bp_model *model,
                           const struct bp_levels *levels);

#endif
