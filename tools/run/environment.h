/* SPDX-License-Identifier: MIT
 *
 * What `battprof run` adds to the target's environment: where the library is, and its settings
 * (BATTPROF_*). All zero before the first call.
 */
#ifndef BP_TOOLS_RUN_ENVIRONMENT_H
#define BP_TOOLS_RUN_ENVIRONMENT_H

#include "tools/base/error.h"
#include "tools/base/variables.h"
#include "tools/run/settings.h"
#include "tools/rules/task.h"

#define BP_RUN_ASSIGNMENTS 24

struct bp_run_environment {
    const struct bp_run_settings *settings;
    char *assignment[BP_RUN_ASSIGNMENTS + 1]; /* "NAME=value", NULL at the end */
    size_t assigned;
    size_t lasting;        /* those that an unprofiled target needs, too */
    struct bp_text dsl;    /* comma separated, for BATTPROF_DSL */
    struct bp_text hooks;  /* comma separated, for BATTPROF_HOOK */
    struct bp_text python; /* the same for BATTPROF_PYTHON */
    struct bp_text count;  /* and BATTPROF_COUNT */
    struct bp_text lines;  /* and BATTPROF_LINES */
    struct bp_text tasks;  /* with semicolons, for BATTPROF_TASKS */
    struct bp_text rate;   /* for BATTPROF_SAMPLE */
};

/* Checks the settings, which are borrowed, and makes the lasting assignments. */
int bp_run_environment_init(struct bp_run_environment *environment,
                            const struct bp_run_settings *settings, struct bp_error *error);

/* Rules for tasks behind those of the command line, which come first. -1 if there is no room. */
int bp_run_environment_add_tasks(struct bp_run_environment *environment, const char *rules);
/* Adds patterns of the DSL; -1 if there is no room. */
int bp_run_environment_add_dsl(struct bp_run_environment *environment, const char *patterns);

/* The assignments of a profiled target, in place of those of the repetition before. `tree` is the
 * file with the wall page. */
void bp_run_environment_profile(struct bp_run_environment *environment, const char *library,
                                const char *directory, const char *tree);

void bp_run_environment_fini(struct bp_run_environment *environment);

/* Takes all but the first `count` assignments back. */
void bp_run_environment_keep(struct bp_run_environment *environment, size_t count);

#endif
