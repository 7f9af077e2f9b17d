/* SPDX-License-Identifier: MIT
 *
 * Beginnings and ends that the ledger must see: threads (pthread_create, thread exit), frames left
 * without returning (exceptions, longjmp), locks that are waited for.
 */
#ifndef BP_INTERPOSE_PROCESS_LIFETIME_H
#define BP_INTERPOSE_PROCESS_LIFETIME_H

#include <stdint.h>

/* Announce the wrappers; then, after the first scan, what needs the real functions. */
void bp_lifetime_init(void);
void bp_lifetime_start(void);

/* Whether a thread can be adopted at any of its instructions: what tells of its end is then set
 * without an allocation. */
int bp_lifetime_arms_anywhere(void);

void bp_waiting_init(void); /* waiting.c */

/* Python is there: locks and conditions within these addresses are its GIL. */
void bp_waiting_gil(uint64_t low, uint64_t size);

#endif
