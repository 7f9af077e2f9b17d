/* SPDX-License-Identifier: MIT
 *
 * What `battprof run` adds to the target's environment: where the library is, and what it is told
 * (BATTPROF_*). All zero before the first call.
 */
#ifndef BP_TOOLS_RUN_ENVIRONMENT_H
#define BP_TOOLS_RUN_ENVIRONMENT_H

#include "tools/error.h"
#include "tools/run_settings.h"
#include "tools/task_rules.h"

#define BP_RUN_ASSIGNMENTS 24
#define BP_LONGEST_VARIABLE 600 /* that the library takes */

struct bp_run_environment {
    const struct bp_run_settings *settings;
    char *assignment[BP_RUN_ASSIGNMENTS + 1]; /* "NAME=value", NULL at the end */
    size_t assigned;
    size_t lasting;                   /* those that an unprofiled target needs, too */
    char hooks[4096];                 /* comma separated, for BATTPROF_HOOK */
    char python[BP_LONGEST_VARIABLE]; /* the same for BATTPROF_PYTHON */
    char count[BP_LONGEST_VARIABLE];  /* and BATTPROF_COUNT */
    char rate[16];                    /* for BATTPROF_SAMPLE */
    struct bp_task_rules tasks;
};

/* Checks the settings, which are borrowed, and makes the lasting assignments. */
int bp_run_environment_init(struct bp_run_environment *environment,
                            const struct bp_run_settings *settings, struct bp_error *error);

/* Rules for tasks behind those of the command line, which come first. -1 if there is no room. */
int bp_run_environment_add_tasks(struct bp_run_environment *environment, const char *rules);

/* The assignments of a profiled target, in place of those of the repetition before. `tree` is the
 * file with the wall page. */
void bp_run_environment_profile(struct bp_run_environment *environment, const char *library,
                                const char *directory, const char *tree);

/* Takes all but the first `count` assignments back. */
void bp_run_environment_keep(struct bp_run_environment *environment, size_t count);

#endif
