/* SPDX-License-Identifier: MIT
 *
 * Open addressing over the items of one kind. A table has a fixed number of slots, allocated with
 * the first item: memory follows the limit, not the number of CUDA calls.
 */
#include "cuda/table.h"

#include <string.h>

#include "interpose/ledger/thread.h"

static uint64_t hash_of(const void *key, uint32_t size) {
    const uint32_t *words = key;
    uint64_t hash = size;
    for (uint32_t i = 0; i < size / sizeof *words; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
    return hash ^ hash >> 32;
}

static int table_init(struct bp_cuda_table *table) {
    uint32_t slots = 64;
    while (slots < 2 * table->limit)
        slots *= 2;
    char *memory = bp_pages_new(slots * sizeof(uint32_t) + table->limit * sizeof(void *));
    if (!memory)
        return 0;
    table->items = (void **)memory;
    table->slots = (uint32_t *)(memory + table->limit * sizeof(void *));
    table->slot_count = slots;
    return 1;
}

static void *new_item(const struct bp_cuda_table *table, const void *key) {
    uint32_t index;
    uint64_t mask = bp_lock(&bp_process.lock);
    void *item = bp_writer_item(&bp_process.writer, table->kind, &index);
    if (item) {
        memcpy(item, key, table->key_size);
        bp_writer_commit(&bp_process.writer, table->kind);
    }
    bp_unlock(&bp_process.lock, mask);
    return item;
}

uint32_t bp_cuda_table_find(const struct bp_cuda_table *table, const void *key) {
    struct bp_cuda_table known = *table;
    known.limit = known.count; /* finds, makes nothing */
    return known.slots ? bp_cuda_table_get(&known, key) : BP_CUDA_NONE;
}

uint32_t bp_cuda_table_get(struct bp_cuda_table *table, const void *key) {
    if (!table->slots && !table_init(table))
        return BP_CUDA_NONE;
    uint32_t slot = (uint32_t)hash_of(key, table->key_size) & (table->slot_count - 1);
    for (; table->slots[slot]; slot = (slot + 1) & (table->slot_count - 1))
        if (memcmp(table->items[table->slots[slot] - 1], key, table->key_size) == 0)
            return table->slots[slot] - 1;
    if (table->count == table->limit)
        return BP_CUDA_NONE;
    void *item = new_item(table, key);
    if (!item)
        return BP_CUDA_NONE;
    table->items[table->count] = item;
    table->slots[slot] = ++table->count;
    return table->count - 1;
}
