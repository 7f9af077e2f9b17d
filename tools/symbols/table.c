/* SPDX-License-Identifier: MIT
 *
 * Names by address, sorted once, searched by halving. libdwfl's own search walks the whole table
 * for every address: 300 addresses in a library with 300,000 symbols would take seconds.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/symbols/internal.h"

/* Ranges before the one found that are looked at, should they reach over it. */
#define MOST_BACK 16

static int compare_ranges(const void *a, const void *b) {
    const struct bp_symbol_range *x = a;
    const struct bp_symbol_range *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->sized != y->sized)
        return x->sized ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return strcmp(x->raw, y->raw);
}

/* One range per start, and those without a size end where the next one begins. */
void bp_symbol_table_sort(struct bp_symbol_table *table) {
    uint32_t kept = 0;
    if (table->count)
        qsort(table->ranges, table->count, sizeof(*table->ranges), compare_ranges);
    for (uint32_t i = 0; i < table->count; i++)
        if (kept == 0 || table->ranges[kept - 1].start != table->ranges[i].start)
            table->ranges[kept++] = table->ranges[i];
    table->count = kept;
    for (uint32_t i = 0; i + 1 < kept; i++)
        if (!table->ranges[i].sized && table->ranges[i].end > table->ranges[i + 1].start)
            table->ranges[i].end = table->ranges[i + 1].start;
}

/* A label inside a function is not what its code is called: ranges with a size come first. In a
 * stripped file what follows a symbol without a size may be anything. */
struct bp_symbol_range *bp_symbol_table_find(struct bp_symbol_table *table, uint64_t address) {
    uint32_t low = 0;
    uint32_t high = table->count;
    struct bp_symbol_range *unsized = NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t back = 0; back < MOST_BACK && back < low; back++) {
        struct bp_symbol_range *range = &table->ranges[low - 1 - back];
        if (address >= range->end)
            continue;
        if (range->sized)
            return range;
        if (!unsized && table->full)
            unsized = range;
    }
    return unsized;
}

void bp_symbol_table_fini(struct bp_symbol_table *table) {
    for (uint32_t i = 0; i < table->count; i++)
        free(table->ranges[i].name);
    free(table->ranges);
    *table = (struct bp_symbol_table){0};
}
