/* SPDX-License-Identifier: MIT
 *
 * Memory of the command. Running out of it ends the command with one line: a report has nothing to
 * save, and every caller would only pass the failure on. Never used inside the target.
 */
#ifndef BP_TOOLS_BASE_MEMORY_H
#define BP_TOOLS_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* There is none left: says so and ends the process, with status BP_FAILED or by what the command
 * wants done instead. */
_Noreturn void bp_memory_end(void);

/* From now on `act` ends the process, after the sentence with these words; NULL: without any. It
 * may not allocate, and may return to have the status be BP_FAILED. */
void bp_memory_at_end(const char *words, void (*act)(void));

/* Zeroed, never NULL. */
void *bp_alloc(size_t count, size_t size);

/* The array with room for one more item than `count`, zeroed. It moves when a power of two is
 * reached, so it must have grown one by one. */
void *bp_grow(void *items, uint32_t count, size_t size);

/* The array with room for `count` items; what is new is not zeroed. */
void *bp_resize(void *items, size_t count, size_t size);

/* The next item of an array, zeroed; `number` is how many there are. */
#define BP_PLACE(items, number)                                                                    \
    ((items) = bp_grow((items), (number), sizeof(*(items))), &(items)[number])
/* BP_PLACE for an array whose count goes up by one. */
#define BP_APPEND(items, count) ((count)++, BP_PLACE(items, (count)-1))

char *bp_copy_text(const char *text);

#endif
