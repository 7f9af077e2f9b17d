/* SPDX-License-Identifier: MIT
 *
 * Nothing was named as the DSL: what was taken as the user's own code, and the options of `run`
 * that would time every call of it.
 */
#ifndef BP_TOOLS_ANALYZE_CHOICE_H
#define BP_TOOLS_ANALYZE_CHOICE_H

#include <stdint.h>

#include "tools/model/model.h"

struct bp_choice {
    char *yours;        /* "mypkg, run.py and 2 more", by falling time; "" if nothing was seen */
    char *options;      /* "--dsl mypkg"; "" if nothing can be intercepted, or all of it was */
    char *named;        /* what these options name: "mypkg" */
    uint32_t functions; /* of Python that they make exact, lambdas included; 0: unknown */
    bool unknown;       /* how many functions some of it has */
    bool native;        /* some of it is native: calls into it are intercepted */
    bool program;       /* most of the user's code is in the program, whose calls are sampled */
};

void bp_choice_init(struct bp_choice *choice, const struct bp_model *model);
void bp_choice_fini(struct bp_choice *choice);

/* The whole command to paste: a new text, "" without options. */
char *bp_choice_command(const struct bp_choice *choice, const struct bp_model *model);

#endif
