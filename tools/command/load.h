/* SPDX-License-Identifier: MIT
 *
 * The model of whatever a user names: a profile, a directory of them, or a trace of another tool.
 */
#ifndef BP_TOOLS_COMMAND_LOAD_H
#define BP_TOOLS_COMMAND_LOAD_H

#include "tools/model/model.h"

/* As bp_model_new_with(); hints name the trace, not its profile in memory. */
struct bp_model *bp_load_model(const char *path, const struct bp_rules *rules,
                               const struct bp_task_wishes *wishes, struct bp_error *error);

#endif
