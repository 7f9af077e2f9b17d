/* SPDX-License-Identifier: MIT
 *
 * Our thread, which asks CUPTI for its records and attributes what is complete.
 */
#ifndef BP_CUDA_FLUSH_H
#define BP_CUDA_FLUSH_H

int bp_flush_start(void);
void bp_flush_kick(void);
void bp_flush_brought(void);
int bp_flush_is_last(void);
int bp_flush_is_forced(void); /* records may be of work that is not over */
void bp_flush_finish(void);

#endif
