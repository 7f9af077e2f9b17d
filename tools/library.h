/* SPDX-License-Identifier: MIT
 *
 * Where libbattprof.so is, for LD_PRELOAD.
 */
#ifndef BP_TOOLS_LIBRARY_H
#define BP_TOOLS_LIBRARY_H

#include <limits.h>

#include "tools/error.h"

/* $BATTPROF_LIB, else beside the running command (build tree, then install tree), else the
 * configured libdir. Absolute: children may run in another directory. */
int bp_library_find(char path[PATH_MAX], struct bp_error *error);

/* The folder of the stand-in CUDA libraries. */
int bp_library_find_sim(char path[PATH_MAX], struct bp_error *error);

/* LD_PRELOAD is split at blanks and colons. Makes a link without them if `path` has any, in a new
 * directory under /tmp, and changes `path` to it; bp_library_unlink removes it. */
int bp_library_avoid_blanks(char path[PATH_MAX], struct bp_error *error);
void bp_library_unlink(const char *path);

#endif
