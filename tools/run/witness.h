/* SPDX-License-Identifier: MIT
 *
 * Whether a signal was sent to our whole process group. Then the target has it already, and to
 * pass it on would interrupt it twice: the second time perhaps in the midst of its cleaning up.
 * Nothing in a signal tells. So a process of ours stands in the group, with all signals blocked
 * and nothing open: what is pending there was meant for all. (The kernel serves a group's youngest
 * member first, so it is pending by the time that we are told.)
 */
#ifndef BP_TOOLS_RUN_WITNESS_H
#define BP_TOOLS_RUN_WITNESS_H

#include <stdbool.h>

/* With all signals blocked. Where it cannot be started every signal counts as ours alone. */
void bp_witness_start(void);

/* True once for a signal of the group. To be called in a signal handler. */
bool bp_witness_saw(int signal);

void bp_witness_end(void);

#endif
