/* SPDX-License-Identifier: MIT
 *
 * The command line that a user probably meant: a script without x permission, a program where a
 * subcommand belongs, a whole command line as one word, a profile.
 */
#ifndef BP_TOOLS_COMMAND_SUGGEST_H
#define BP_TOOLS_COMMAND_SUGGEST_H

#include <stdbool.h>

#include "tools/base/error.h"
#include "tools/symbols/elf_probe.h"

/* What was typed: `battprof run OPTIONS WORDS`. */
struct bp_typed {
    char *const *options; /* they end where the words begin; NULL: none */
    char *const *words;   /* up to NULL */
};

/* Asks about `battprof WORDS`: true with the error set if these can be run or shown. */
bool bp_suggest_command(char *const *words, struct bp_error *error);

/* Asks for `run`: -1 with the error set if what was probed is no program. */
int bp_suggest_instead(const struct bp_probe *probe, const struct bp_typed *typed,
                       struct bp_error *error);

#endif
