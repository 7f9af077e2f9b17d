/* SPDX-License-Identifier: MIT
 *
 * Python functions by what they are called: (file, first line, name). The profile has each of them
 * once, whether a call of it was intercepted or a sample met it, and however often its code object
 * is made anew.
 */
#ifndef BP_INTERPOSE_SAMPLE_NAMES_H
#define BP_INTERPOSE_SAMPLE_NAMES_H

#include <stdint.h>

#define BP_NAMES_NONE UINT32_MAX

/* The ledger announced a function; `name` may be qualified: its last part counts. */
void bp_names_note(const char *file, uint32_t line, const char *name, uint32_t func);

/* The function's index in the profile, announced if it is new. `name` is shown, `plain` is the last
 * part of it. From a signal handler, too: takes the process lock. */
uint32_t bp_names_get(const char *file, uint32_t line, const char *name, const char *plain);

/* Changes whenever the ledger has announced one: what was found before may have another index. */
uint32_t bp_names_generation(void);

/* Around fork. */
void bp_names_before_fork(void);
void bp_names_after_fork(void);

#endif
