/* SPDX-License-Identifier: MIT
 *
 * A command that is printed to be pasted: the same run with another option. In a notebook it is the
 * first line of a cell.
 */
#ifndef BP_TOOLS_ANALYZE_AGAIN_H
#define BP_TOOLS_ANALYZE_AGAIN_H

#include "tools/model/model.h"

/* "battprof run --dsl mypkg --count 'json:*' -- python x.py", with what the run was told to measure
 * and `options` beside it: a new text; NULL if the command of the run is not known so well. */
char *bp_again_run(const struct bp_model *model, const char *options);
/* The module as patterns name it: that of a script whose name a pattern cannot have is __main__. A
 * new text. */
char *bp_again_module(const struct bp_function *function);
/* The command behind what it is for, as the end of a sentence: a new text. Without the command it
 * says which options to run with. */
char *bp_again_sentence(const struct bp_model *model, const char *options);

#endif
