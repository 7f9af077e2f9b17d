/* SPDX-License-Identifier: MIT
 *
 * Facts about the process that the profile keeps as text: its environment, where Python is.
 */
#ifndef BP_INTERPOSE_LEDGER_FACT_H
#define BP_INTERPOSE_LEDGER_FACT_H

/* One more name and value (BP_VARIABLES). Takes the process lock. */
void bp_fact_keep(const char *name, const char *value);

#endif
