/* SPDX-License-Identifier: MIT
 *
 * Shell completion, made from the option tables.
 */
#ifndef BP_TOOLS_COMPLETION_H
#define BP_TOOLS_COMPLETION_H

#include <stdio.h>

#include "tools/options.h"

/* `commands` ends with NULL. */
void bp_completion_bash(const struct bp_command *const *commands, FILE *out);

#endif
