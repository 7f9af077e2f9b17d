/* SPDX-License-Identifier: MIT
 *
 * Which signals the process sent to its children.
 */
#ifndef BP_INTERPOSE_PROCESS_KILL_H
#define BP_INTERPOSE_PROCESS_KILL_H

#include <stdint.h>
#include <sys/types.h>

/* Announce the wrapper of kill. */
void bp_kill_init(void);

/* The signal if this process sent it to the child, which is gone; else 0. */
uint32_t bp_kill_sent(pid_t pid, int number);

#endif
