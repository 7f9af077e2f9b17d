/* SPDX-License-Identifier: MIT
 *
 * Items of the profile found by their key, which is how they begin. With the lock held.
 */
#ifndef BP_CUDA_TABLE_H
#define BP_CUDA_TABLE_H

#include <stdint.h>

struct bp_cuda_table {
    uint16_t kind; /* enum bp_chunk_kind */
    uint16_t key_size;
    uint32_t limit;
    uint32_t count;
    uint32_t slot_count;
    uint32_t *slots; /* index + 1 */
    void **items;
};
#define BP_CUDA_NONE UINT32_MAX
/* Index of the item with that key, a new one if need be; NONE if the table is full. */
uint32_t bp_cuda_table_get(struct bp_cuda_table *table, const void *key);
uint32_t bp_cuda_table_find(const struct bp_cuda_table *table,
                            const void *key); /* NONE if there is none */

#endif
