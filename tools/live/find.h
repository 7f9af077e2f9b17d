/* SPDX-License-Identifier: MIT
 *
 * Which run a person means by a process or a path.
 */
#ifndef BP_TOOLS_LIVE_FIND_H
#define BP_TOOLS_LIVE_FIND_H

#include <sys/types.h>

#include "tools/base/error.h"

/* A path of a run's directory or of a file in it: `word` if it is one, the profile of the process
 * if it is the number of one that is being recorded; NULL stands for the run in the working
 * directory. A new text, or NULL with the error set. */
char *bp_find_run(const char *word, struct bp_error *error);

/* The process that a word of digits alone names; 0 if it is none. */
pid_t bp_find_pid(const char *word);

/* The profile that the process writes, of which there may be several after exec; the last one. A
 * new text; NULL if it writes none, or /proc does not say. */
char *bp_find_profile(pid_t pid);

#endif
