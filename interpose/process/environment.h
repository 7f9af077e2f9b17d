/* SPDX-License-Identifier: MIT
 *
 * Children stay profiled whatever environment they are given: exec and spawn get LD_PRELOAD and
 * our own variables added where they are missing.
 */
#ifndef BP_INTERPOSE_PROCESS_ENVIRONMENT_H
#define BP_INTERPOSE_PROCESS_ENVIRONMENT_H

#include "interpose/process/process.h"

/* Announce the wrappers of the exec and spawn families. */
void bp_environment_init(void);

/* BATTPROF_QUIET=unless:PID */
#define BP_QUIET_UNLESS "unless:"

/* What children need; `tree` is used if config names none. */
void bp_environment_set(const char *tree, const struct bp_config *config);

/* Put it into environ, for system(3) and popen(3). */
void bp_environment_export(void);

/* process.c: this program ends here, unless exec fails. The busy threads; -1 after vfork. */
int bp_process_leave_for_exec(void);
void bp_process_stay(int busy);

#endif
