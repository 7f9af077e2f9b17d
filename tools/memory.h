/* SPDX-License-Identifier: MIT
 *
 * Memory of the command. Running out of it ends the command with one line: a report has nothing to
 * save, and every caller would only pass the failure on. Never used inside the target.
 */
#ifndef BP_TOOLS_MEMORY_H
#define BP_TOOLS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, never NULL. */
void *bp_alloc(size_t count, size_t size);

/* Room for one more item than `count`: `*items` moves when a power of two is reached, so an array
 * must have grown one by one. Returns the new item, zeroed. */
void *bp_append(void **items, uint32_t count, size_t size);

char *bp_copy_text(const char *text);

#endif
