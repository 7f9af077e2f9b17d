/* SPDX-License-Identifier: MIT
 *
 * A model in the formats of other programs. Returns 0.
 */
#ifndef BP_TOOLS_EXPORT_EXPORT_H
#define BP_TOOLS_EXPORT_EXPORT_H

#include <stdio.h>

#include "tools/model/model.h"

/* The sampled stacks for flame graphs. */
int bp_export_folded(const struct bp_model *model, FILE *out);

#endif
