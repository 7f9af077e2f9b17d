/* SPDX-License-Identifier: MIT
 *
 * How a thread gets more entries, and those that never come back.
 */
#include "interpose/ledger/entry.h"

#define FIRST_ENTRIES 63 /* one page with its chunk header */
#define LARGEST_ENTRIES 65536

int bp_entries_grow(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint32_t items = local->entry_count ? local->entry_count : FIRST_ENTRIES;
    if (items > LARGEST_ENTRIES)
        items = LARGEST_ENTRIES;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk =
        bp_writer_chunk(&bp_process.writer, BP_ENTRIES, thread->index, local->entry_count, items);
    if (chunk) {
        struct bp_entry *entries = bp_chunk_items(chunk);
        chunk->count = chunk->capacity;
        local->entry_count += chunk->capacity;
        for (uint32_t i = chunk->capacity; i-- > 0;) {
            bp_entry_give(thread, &entries[i]);
            if (i == chunk->capacity / 2)
                BP_STOP(ENTRIES_GROWN);
        }
    }
    bp_unlock(&bp_process.lock, mask);
    return chunk != NULL;
}

/* The third of the free list; NULL if there are fewer. */
static struct bp_entry *third_free(const struct bp_thread *thread, struct bp_entry **second) {
    const struct bp_entry *first = (const struct bp_entry *)thread->free;
    *second = first ? (struct bp_entry *)first->child : NULL;
    return *second ? (struct bp_entry *)(*second)->child : NULL;
}

/* An entry that does not come back. A handler may run this within a stub that has read the head of
 * the free list and what follows it, and goes on with both: so it is the one behind these. Such a
 * stub loses the entries that were made meanwhile. */
struct bp_entry *bp_thread_take(struct bp_thread *thread) {
    struct bp_entry *before, *taken = third_free(thread, &before);
    if (!taken && bp_entries_grow(thread))
        taken = third_free(thread, &before);
    if (taken)
        before->child = taken->child;
    return taken;
}
