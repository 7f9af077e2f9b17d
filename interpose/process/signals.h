/* SPDX-License-Identifier: MIT
 *
 * Wrappers that keep the program from seeing the signal of sampling.
 */
#ifndef BP_INTERPOSE_PROCESS_SIGNALS_H
#define BP_INTERPOSE_PROCESS_SIGNALS_H

/* Announce them, once sampling has its signal. */
void bp_signals_init(void);

#endif
