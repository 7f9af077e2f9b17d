/* SPDX-License-Identifier: MIT
 *
 * Finds the chunks of a profile and copies their items. Every number of a chunk head is compared
 * with the file before use: memory taken is bounded by the size of the file, and an index by the
 * capacities of the chunks before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/items.h"
#include "profile/reader_internal.h"

int bp_reader_pread(struct bp_reader *reader, void *data, size_t size, uint64_t offset) {
    char *to = data;
    while (size > 0) {
        ssize_t n = pread(reader->fd, to, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -EBADMSG;
        to += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* 0 for a kind that this reader does not know. Else the least that an item must have: that of the
 * first format which had such items. */
static size_t least_size(uint32_t kind) {
    if (kind == BP_NODES)
        return offsetof(struct bp_node, first);
    if (kind == BP_THREADS)
        return offsetof(struct bp_thread, paused_seen);
    if (kind == BP_TRANSFERS || kind == BP_ASKED)
        return offsetof(struct bp_transfer, call_time);
    if (kind == BP_TASK_NODES)
        return offsetof(struct bp_task_node, untimed);
    return kind < BP_KINDS ? bp_item_sizes[kind] : 0;
}

static bool is_pointed_to(uint32_t kind) {
    return kind == BP_ENTRIES || kind == BP_NODES || kind == BP_THREADS;
}

/* False for a head that contradicts itself; its chunk is left out, the chain goes on. */
static bool check_head(const struct bp_chunk *head) {
    uint64_t room = head->size - sizeof(*head);
    if (head->item_size < least_size(head->kind))
        return false;
    if (head->kind == BP_STRINGS && head->item_size != 1)
        return false;
    if ((uint64_t)head->capacity * head->item_size > room || head->count > head->capacity)
        return false;
    return head->address + head->size >= head->address;
}

static int add_chunk(struct bp_reader *reader, const struct bp_chunk *head, uint64_t offset,
                     uint32_t *allocated) {
    if (reader->chunk_count == *allocated) {
        uint32_t more = *allocated ? *allocated * 2 : 64;
        void *grown = realloc(reader->chunks, more * sizeof(*reader->chunks));
        if (!grown)
            return -ENOMEM;
        reader->chunks = grown;
        *allocated = more;
    }
    /* Entries are taken from a free list: any of them may be open, so their count says nothing. */
    uint32_t wanted = head->kind == BP_ENTRIES ? head->capacity : head->count;
    uint64_t fits = (reader->size - offset - sizeof(*head)) / head->item_size;
    struct bp_reader_chunk *chunk = &reader->chunks[reader->chunk_count++];
    *chunk = (struct bp_reader_chunk){.offset = offset, .head = *head};
    chunk->present = wanted < fits ? wanted : (uint32_t)fits;
    return 0;
}

/* By index, not by place: a forked child's file has its chunks in another order. */
static int compare_kind(const void *a, const void *b) {
    const struct bp_reader_chunk *x = a;
    const struct bp_reader_chunk *y = b;
    if (x->head.kind != y->head.kind)
        return x->head.kind < y->head.kind ? -1 : 1;
    if (x->head.thread != y->head.thread)
        return x->head.thread < y->head.thread ? -1 : 1;
    if (x->head.first != y->head.first)
        return x->head.first < y->head.first ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int compare_address(const void *a, const void *b, void *data) {
    const struct bp_reader_chunk *chunks = data;
    uint64_t x = chunks[*(const uint32_t *)a].head.address;
    uint64_t y = chunks[*(const uint32_t *)b].head.address;
    return x < y ? -1 : x > y;
}

static int index_chunks(struct bp_reader *reader) {
    if (reader->chunk_count == 0)
        return 0;
    qsort(reader->chunks, reader->chunk_count, sizeof(*reader->chunks), compare_kind);
    reader->by_address = malloc(reader->chunk_count * sizeof(*reader->by_address));
    if (!reader->by_address)
        return -ENOMEM;
    for (uint32_t i = 0; i < reader->chunk_count; i++)
        if (is_pointed_to(reader->chunks[i].head.kind))
            reader->by_address[reader->address_count++] = i;
    qsort_r(reader->by_address, reader->address_count, sizeof(*reader->by_address), compare_address,
            reader->chunks);
    return 0;
}

/* A target that was killed, or is at work, between taking the room and writing the head. */
static bool is_unborn(const struct bp_reader *reader, const struct bp_chunk *head) {
    return reader->profile->header.state == BP_RUNNING && head->magic == 0 && head->size == 0;
}

/* Walks the chain of chunks as far as it holds. */
int bp_reader_scan(struct bp_reader *reader) {
    const struct bp_header *header = &reader->profile->header;
    uint32_t allocated = 0;
    uint64_t offset = header->header_size;
    reader->truncated = header->used > reader->size;
    uint64_t end = reader->truncated ? reader->size : header->used;
    while (end - offset >= sizeof(struct bp_chunk)) {
        struct bp_chunk head;
        int result = bp_reader_pread(reader, &head, sizeof(head), offset);
        if (result)
            return result;
        bool whole = head.magic == BP_CHUNK_MAGIC && head.size >= BP_PAGE &&
                     head.size % BP_PAGE == 0 && head.size <= header->used - offset;
        if (!whole) {
            if (!is_unborn(reader, &head))
                reader->broken_at = offset;
            break;
        }
        if (least_size(head.kind) && !check_head(&head))
            reader->bad_chunks++;
        else if (least_size(head.kind))
            result = add_chunk(reader, &head, offset, &allocated);
        if (result)
            return result;
        if (head.size >= end - offset)
            break;
        offset += head.size;
    }
    return index_chunks(reader);
}

struct bp_reader_range bp_reader_find(const struct bp_reader *reader, uint32_t kind,
                                      uint32_t thread) {
    uint32_t low = 0;
    uint32_t high = reader->chunk_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct bp_chunk *head = &reader->chunks[middle].head;
        if (head->kind < kind || (head->kind == kind && head->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    struct bp_reader_range range = {low, 0};
    for (uint32_t i = low; i < reader->chunk_count; i++, range.count++)
        if (reader->chunks[i].head.kind != kind || reader->chunks[i].head.thread != thread)
            break;
    return range;
}

/* Items per array: a chunk's first index is believed only up to the capacity of those before. */
static uint32_t plan_items(struct bp_reader *reader, struct bp_reader_range range) {
    uint64_t used = 0;
    uint64_t capacity = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        struct bp_reader_chunk *chunk = &reader->chunks[i];
        if (chunk->head.first < used || chunk->head.first > capacity ||
            capacity + chunk->head.capacity >= UINT32_MAX) {
            reader->bad_chunks++;
            chunk->present = 0;
            continue;
        }
        used = (uint64_t)chunk->head.first + chunk->present;
        capacity = (uint64_t)chunk->head.first + chunk->head.capacity;
    }
    return (uint32_t)used;
}

static int copy_items(struct bp_reader *reader, const struct bp_reader_chunk *chunk, size_t known,
                      char *to) {
    size_t stride = chunk->head.item_size;
    size_t size = stride * chunk->present;
    uint64_t offset = chunk->offset + sizeof(struct bp_chunk);
    if (stride == known)
        return bp_reader_pread(reader, to, size, offset);
    char *raw = malloc(size + 1);
    if (!raw)
        return -ENOMEM;
    int result = bp_reader_pread(reader, raw, size, offset);
    for (uint32_t i = 0; result == 0 && i < chunk->present; i++)
        memcpy(to + i * known, raw + i * stride, stride < known ? stride : known);
    free(raw);
    return result;
}

int bp_reader_load(struct bp_reader *reader, struct bp_reader_range range, size_t known,
                   uint32_t spare, void **items, uint32_t *count) {
    uint32_t planned = plan_items(reader, range);
    char *array = calloc((size_t)planned + spare + 1, known);
    if (!array)
        return -ENOMEM;
    int result = 0;
    for (uint32_t i = range.first; result == 0 && i < range.first + range.count; i++) {
        const struct bp_reader_chunk *chunk = &reader->chunks[i];
        if (chunk->present > 0)
            result = copy_items(reader, chunk, known, array + chunk->head.first * known);
    }
    if (result) {
        free(array);
        return result;
    }
    *items = array;
    *count = planned;
    return 0;
}

struct bp_reader_chunk *bp_reader_resolve(const struct bp_reader *reader, uint32_t kind,
                                          uint64_t address, uint32_t *index, uint32_t *offset) {
    uint32_t low = 0;
    uint32_t high = reader->address_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reader->chunks[reader->by_address[middle]].head.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    struct bp_reader_chunk *chunk = &reader->chunks[reader->by_address[low - 1]];
    uint64_t distance = address - chunk->head.address;
    if (chunk->head.kind != kind || distance < sizeof(struct bp_chunk))
        return NULL;
    distance -= sizeof(struct bp_chunk);
    if (distance / chunk->head.item_size >= chunk->present)
        return NULL;
    *index = (uint32_t)(distance / chunk->head.item_size);
    *offset = (uint32_t)(distance % chunk->head.item_size);
    return chunk;
}
