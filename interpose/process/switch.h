/* SPDX-License-Identifier: MIT
 *
 * Stopping and starting the recording of the process: asked for by the program itself, or by a word
 * in the header of its profile that `battprof start` and `stop` write. The word is looked at by the
 * ticks of the threads' timers, which run on CPU time: a process that waits is not woken, and no
 * call of it is interrupted. docs/internals/pause.md tells why.
 */
#ifndef BP_INTERPOSE_PROCESS_SWITCH_H
#define BP_INTERPOSE_PROCESS_SWITCH_H

/* At the end of the constructor: pause at once, if that is wanted. */
void bp_switch_init(int paused);

/* Whether the process is to begin paused: BATTPROF=paused of the first one, or the run's state. */
int bp_switch_begins_paused(void);

#endif
