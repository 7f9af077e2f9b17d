/* SPDX-License-Identifier: MIT
 *
 * Which profile is meant where none is named.
 */
#ifndef BP_TOOLS_COMMAND_PROFILE_PATH_H
#define BP_TOOLS_COMMAND_PROFILE_PATH_H

#include "tools/base/error.h"

/* ./battprof.out or battprof.*.bp here, whichever run is newest: a new text, or NULL with the error
 * set. */
char *bp_profile_path(struct bp_error *error);

#endif
