/* SPDX-License-Identifier: MIT
 *
 * What the command says of itself: --version, --library, --licenses, --completion.
 */
#ifndef BP_TOOLS_COMMAND_ABOUT_H
#define BP_TOOLS_COMMAND_ABOUT_H

#include <stdbool.h>

#include "tools/base/options.h"

/* `argv[0]` is the option. False if it is none of these; else `status` is set. */
bool bp_about(int argc, char **argv, const struct bp_command *const *commands, int *status,
              struct bp_error *error);

/* The lines of --help. */
extern const char bp_about_help[];

#endif
