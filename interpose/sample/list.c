/* SPDX-License-Identifier: MIT */
#include "interpose/sample/list.h"

#include "interpose/base/hash.h"
#include "profile/items.h"

#define FIRST_SLOTS 1024 /* one page */

static void *item_at(const struct bp_list *list, uint32_t index) {
    uint32_t i = list->chunk_count - 1;
    while (index < list->chunks[i]->first)
        i--;
    struct bp_chunk *chunk = list->chunks[i];
    return (char *)bp_chunk_items(chunk) + (size_t)(index - chunk->first) * chunk->item_size;
}

static uint32_t hash_of(const struct bp_list *list, const uint32_t *key) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < list->key / sizeof *key; i++)
        hash = bp_mix(hash, key[i]);
    return (uint32_t)(hash >> 32);
}

static int equal(const struct bp_list *list, const uint32_t *a, const uint32_t *b) {
    for (uint32_t i = 0; i < list->key / sizeof *a; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t *slot_of(const struct bp_list *list, const uint32_t *key) {
    uint32_t i = hash_of(list, key) & list->mask;
    while (list->slots[i] && !equal(list, item_at(list, list->slots[i] - 1), key))
        i = (i + 1) & list->mask;
    return &list->slots[i];
}

static int grow_slots(struct bp_list *list) {
    uint32_t size = list->slots ? 2 * (list->mask + 1) : FIRST_SLOTS;
    uint32_t *before = list->slots, *slots = bp_pages_new(size * sizeof *slots);
    if (!slots)
        return 0;
    /* Whoever interrupts us may not come back. */
    list->slots = slots;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    list->mask = size - 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (before)
        bp_pages_free(before, size / 2 * sizeof *slots);
    for (uint32_t i = 0; i < list->count; i++)
        *slot_of(list, item_at(list, i)) = i + 1;
    return 1;
}

static int grow_file(struct bp_list *list, const struct bp_thread *thread) {
    const struct bp_chunk *last = list->chunk_count ? list->chunks[list->chunk_count - 1] : NULL;
    uint32_t items = last ? 2 * last->capacity : BP_PAGE / 2 / bp_item_sizes[list->kind];
    if (list->chunk_count == BP_LIST_CHUNKS)
        return 0;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = NULL;
    if (!list->closed)
        chunk = bp_writer_chunk(&bp_process.writer, list->kind, thread->index, list->count, items);
    bp_unlock(&bp_process.lock, mask);
    if (chunk)
        list->chunks[list->chunk_count++] = chunk;
    return chunk != NULL;
}

static void *add(struct bp_list *list, const struct bp_thread *thread, const uint32_t *key) {
    struct bp_chunk *chunk = list->chunk_count ? list->chunks[list->chunk_count - 1] : NULL;
    if (chunk) /* the last time may have been interrupted for good */
        list->count = chunk->first + chunk->count;
    if (!chunk || chunk->count == chunk->capacity) {
        if (list->count >= BP_LIST_LIMIT || !grow_file(list, thread))
            return NULL;
        chunk = list->chunks[list->chunk_count - 1];
    }
    uint32_t *item =
        (uint32_t *)((char *)bp_chunk_items(chunk) + (size_t)chunk->count * chunk->item_size);
    for (uint32_t i = 0; i < list->key / sizeof *key; i++)
        item[i] = key[i];
    __atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
    list->count++;
    return item;
}

void *bp_list_get(struct bp_list *list, const struct bp_thread *thread, const void *key,
                  uint32_t *index) {
    if ((!list->slots || list->count > list->mask / 2) && !grow_slots(list))
        return NULL;
    uint32_t *slot = slot_of(list, key);
    if (*slot) {
        *index = *slot - 1;
        return item_at(list, *index);
    }
    void *item = add(list, thread, key);
    if (!item)
        return NULL;
    *index = list->count - 1;
    *slot = list->count;
    return item;
}

void bp_list_free(struct bp_list *list) {
    if (list->slots)
        bp_pages_free(list->slots, (list->mask + 1) * sizeof *list->slots);
    list->slots = NULL;
}

void bp_list_close(struct bp_list *list) {
    list->closed = 1;
}
