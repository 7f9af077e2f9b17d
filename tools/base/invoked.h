/* SPDX-License-Identifier: MIT
 *
 * How the user called this command, so that a command line that we print works when it is pasted:
 * `battprof` where PATH has it, the path as it was typed where it was typed.
 */
#ifndef BP_TOOLS_BASE_INVOKED_H
#define BP_TOOLS_BASE_INVOKED_H

/* Once, by main. */
void bp_invoked_set(const char *argv0);
/* "battprof", "build/tools/battprof", quoted for a shell: borrowed. */
const char *bp_invoked(void);

#endif
