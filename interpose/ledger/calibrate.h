/* SPDX-License-Identifier: MIT
 *
 * What battprof itself costs in this process, measured at its start.
 */
#ifndef BP_INTERPOSE_LEDGER_CALIBRATE_H
#define BP_INTERPOSE_LEDGER_CALIBRATE_H

#include "profile/format.h"

/* The constructor begins, begins the main thread's ledger, and ends: then its cost is noted in the
 * header. */
enum bp_startup { BP_STARTUP_BEGIN, BP_STARTUP_THREAD, BP_STARTUP_END, BP_STARTUP_MOMENTS };
void bp_startup_mark(enum bp_startup moment);

/* Note in the header what a stub costs: as measured by another process of the tree, which `tree`,
 * the header of the file with the wall page, has if one has been there; else as measured now, in 15
 * us, also for those that come later. NULL: there is no such file but ours. */
void bp_calibrate(struct bp_header *tree);

#endif
