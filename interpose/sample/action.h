/* SPDX-License-Identifier: MIT
 *
 * What the kernel does with a signal, asked and told without libc, whose functions a sanitizer or
 * the program itself may have replaced.
 */
#ifndef BP_INTERPOSE_SAMPLE_ACTION_H
#define BP_INTERPOSE_SAMPLE_ACTION_H

#include <signal.h>
#include <stdint.h>

/* The address of the handler; 0 for the default, 1 if it is ignored. */
uint64_t bp_action_get(int number);

/* All signals are blocked while it runs, on the alternate stack if there is one; calls that it
 * interrupts go on. 0 or -errno. */
int bp_action_set(int number, void (*handler)(int, siginfo_t *, void *));
int bp_action_reset(int number);

#endif
