/* SPDX-License-Identifier: MIT
 *
 * The library came by `battprof attach`, or late in another way: what it was given then, and the
 * threads that were there before.
 */
#ifndef BP_INTERPOSE_PROCESS_ATTACHED_H
#define BP_INTERPOSE_PROCESS_ATTACHED_H

/* The settings as an environment, on which `battprof attach` has the caller run; NULL: this is not
 * its doing. Once, from the constructor. */
char **bp_attached_settings(void);

/* Whether the caller waits in a system call, to which it will return. */
int bp_attached_waits(void);

/* Have all threads that the ledger does not know be recorded from when they next use a CPU: those
 * that wait are not woken. Without sampling, or a signal for it, from their next intercepted call.
 */
void bp_attached_threads(void);

#endif
