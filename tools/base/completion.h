/* SPDX-License-Identifier: MIT
 *
 * Shell completion, made from the option tables.
 */
#ifndef BP_TOOLS_BASE_COMPLETION_H
#define BP_TOOLS_BASE_COMPLETION_H

#include <stdio.h>

#include "tools/base/options.h"

/* `commands` ends with NULL. */
void bp_completion_bash(const struct bp_command *const *commands, FILE *out);
void bp_completion_fish(const struct bp_command *const *commands, FILE *out);
void bp_completion_zsh(const struct bp_command *const *commands, FILE *out);

#endif
