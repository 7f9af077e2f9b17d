/* SPDX-License-Identifier: MIT
 *
 * What battprof itself costs in this process, measured at its start.
 */
#ifndef BP_INTERPOSE_LEDGER_CALIBRATE_H
#define BP_INTERPOSE_LEDGER_CALIBRATE_H

/* The constructor begins, begins the main thread's ledger, and ends: then its cost is noted in the
 * header. */
enum bp_startup { BP_STARTUP_BEGIN, BP_STARTUP_THREAD, BP_STARTUP_END, BP_STARTUP_MOMENTS };
void bp_startup_mark(enum bp_startup moment);

/* Measure the cost of a stub and note it in the header; some 0.2 ms. */
void bp_calibrate(void);

#endif
