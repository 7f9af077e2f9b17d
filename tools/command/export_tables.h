/* SPDX-License-Identifier: MIT
 *
 * `export -f tables`: a profile, or each of the directories of one.
 */
#ifndef BP_TOOLS_COMMAND_EXPORT_TABLES_H
#define BP_TOOLS_COMMAND_EXPORT_TABLES_H

#include "tools/base/error.h"
#include "tools/rules/rules.h"

/* `run` NULL: the profile says it. 0, or -1 with the error set. */
int bp_export_tables(const char *path, const char *directory, const char *run,
                     const struct bp_rules *rules, struct bp_error *error);

#endif
