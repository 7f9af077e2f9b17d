/* SPDX-License-Identifier: MIT */
#include "interpose/unwind/tables.h"

#include "interpose/base/pages.h"

#define BLOCK 168 /* objects: one page */

struct block {
    struct bp_unwind_table tables[BLOCK];
    struct block *next;
};

static struct {
    struct block first;
    uint32_t count;
} state;

uint32_t bp_tables_unloaded;

static struct bp_unwind_table *place(uint32_t index, int make) {
    struct block *block = &state.first;
    for (; index >= BLOCK; index -= BLOCK) {
        if (!block->next && make)
            block->next = bp_pages_new(sizeof *block);
        block = block->next;
        if (!block)
            return NULL;
    }
    return &block->tables[index];
}

static struct bp_unwind_table *unused(void) {
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_unwind_table *table = place(i, 0);
        if (!table->high)
            return table;
    }
    struct bp_unwind_table *table = place(state.count, 1);
    if (table)
        __atomic_store_n(&state.count, state.count + 1, __ATOMIC_RELEASE);
    return table;
}

void bp_tables_add(uint64_t low, uint64_t high, uint64_t header) {
    struct bp_unwind_table *table = header ? unused() : NULL;
    if (!table)
        return;
    table->low = low;
    table->header = header;
    __atomic_store_n(&table->high, high, __ATOMIC_RELEASE);
}

void bp_tables_remove(uint64_t low) {
    for (uint32_t i = 0; i < state.count; i++) {
        struct bp_unwind_table *table = place(i, 0);
        if (table->low == low)
            __atomic_store_n(&table->high, 0, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&bp_tables_unloaded, 1, __ATOMIC_RELEASE);
}

const struct bp_unwind_table *bp_tables_find(uint64_t pc) {
    uint32_t left = __atomic_load_n(&state.count, __ATOMIC_ACQUIRE);
    for (const struct block *block = &state.first; block && left; block = block->next)
        for (uint32_t i = 0; i < BLOCK && left; i++, left--) {
            const struct bp_unwind_table *table = &block->tables[i];
            if (pc < __atomic_load_n(&table->high, __ATOMIC_ACQUIRE) && pc >= table->low)
                return table;
        }
    return NULL;
}
