/* SPDX-License-Identifier: MIT
 *
 * Carried files in the user's cache: $XDG_CACHE_HOME/battprof/<build id>/, else that of
 * $HOME/.cache. Directories are ours alone (0700) and files appear there whole, under their name
 * at once, so that any number of commands may do this at the same time. What others own, may write
 * to, or made a link of is refused.
 */
#ifndef BP_TOOLS_RUN_UNPACK_H
#define BP_TOOLS_RUN_UNPACK_H

#include "tools/base/error.h"

/* Unpacks what is not there yet of the carried files whose name begins with `prefix`, and returns
 * the path of their cache: a new text, without a slash at its end. NULL with the error set where
 * that is impossible, or where the files could not be loaded from (noexec); then nothing is left
 * behind. */
char *bp_unpack(const char *prefix, struct bp_error *error);

#endif
