/* SPDX-License-Identifier: MIT
 *
 * Numbers keys in the order in which they are first seen: 0, 1, 2, … A key is any run of bytes; the
 * table keeps a copy. The caller's own arrays hold what belongs to a number.
 */
#ifndef BP_TOOLS_TABLE_H
#define BP_TOOLS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define BP_TABLE_NONE UINT32_MAX

struct bp_table_key;

struct bp_table {
    struct bp_table_key *keys;
    uint32_t *slots; /* number + 1; 0 is free */
    uint32_t slot_count;
    uint32_t count;
};

/* The key's number; a new one if it equals the table's count before the call. */
uint32_t bp_table_put(struct bp_table *table, const void *key, size_t size);
/* BP_TABLE_NONE if it is not there. */
uint32_t bp_table_get(const struct bp_table *table, const void *key, size_t size);
void bp_table_fini(struct bp_table *table);

#endif
