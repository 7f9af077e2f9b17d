/* SPDX-License-Identifier: MIT
 *
 * How libFuzzer changes a profile. Bytes at random change counters in an ocean of zeros; here a
 * field of the header, of a chunk's head or of an item changes, and chunks come, go and move with
 * the rest of the file still in order.
 */
#include <string.h>

#include "profile/format.h"
#include "tests/fuzz/fuzz.h"

#define MOST_CHUNKS 256

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed);

struct file {
    uint8_t *data;
    size_t size;
    size_t limit;
    uint64_t random;
    size_t chunks[MOST_CHUNKS]; /* offsets */
    size_t count;
};

static size_t below(struct file *file, size_t limit) {
    file->random ^= file->random << 13;
    file->random ^= file->random >> 7;
    file->random ^= file->random << 17;
    return limit ? (size_t)(file->random >> 11) % limit : 0;
}

static struct bp_chunk head(const struct file *file, size_t offset) {
    struct bp_chunk chunk;
    memcpy(&chunk, file->data + offset, sizeof(chunk));
    return chunk;
}

static void find_chunks(struct file *file) {
    file->count = 0;
    for (size_t at = BP_PAGE; at + BP_PAGE <= file->size && file->count < MOST_CHUNKS;) {
        struct bp_chunk chunk = head(file, at);
        if (chunk.magic != BP_CHUNK_MAGIC || chunk.size < BP_PAGE || chunk.size % BP_PAGE ||
            chunk.size > file->size - at)
            return;
        file->chunks[file->count++] = at;
        at += chunk.size;
    }
}

static uint64_t choose_value(struct file *file, uint64_t old) {
    static const uint64_t odd[] = {0,          1,          2,          3,
                                   63,         64,         4096,       1000000,
                                   0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
                                   1ull << 32, 1ull << 53, 1ull << 63, UINT64_MAX};
    switch (below(file, 4)) {
    case 0:
        return old + below(file, 9) - 4;
    case 1:
        return below(file, 32);
    case 2:
        return (uint64_t)1 << below(file, 64);
    default:
        return odd[below(file, sizeof(odd) / sizeof(odd[0]))];
    }
}

static void change_field(struct file *file, size_t from, size_t size) {
    static const size_t widths[] = {1, 2, 4, 4, 4, 8, 8, 8};
    size_t width = widths[below(file, 8)];
    size_t place = from + (below(file, size) & ~(width - 1));
    uint64_t value = 0;
    if (place + width > file->size)
        return;
    memcpy(&value, file->data + place, width);
    value = choose_value(file, value);
    memcpy(file->data + place, &value, width);
}

/* An item in use, or the first ones that are not. */
static void change_item(struct file *file) {
    size_t at = file->chunks[below(file, file->count)];
    struct bp_chunk chunk = head(file, at);
    size_t item = below(file, (size_t)chunk.count + 1) * chunk.item_size;
    size_t used = chunk.item_size < 96 ? chunk.item_size : 96;
    if (chunk.item_size > 0)
        change_field(file, at + sizeof(chunk) + item, below(file, 4) ? used : chunk.item_size);
}

/* One item over another of its kind: equal names, places and numbers. */
static void copy_item(struct file *file) {
    size_t at = file->chunks[below(file, file->count)];
    struct bp_chunk chunk = head(file, at);
    size_t items = chunk.item_size ? (chunk.size - sizeof(chunk)) / chunk.item_size : 0;
    uint8_t *first = file->data + at + sizeof(chunk);
    if (items > chunk.count)
        items = (size_t)chunk.count + 1;
    if (items > 0)
        memmove(first + below(file, items) * chunk.item_size,
                first + below(file, items) * chunk.item_size, chunk.item_size);
}

/* An item more or less; it is what was there before. */
static void change_count(struct file *file) {
    size_t at = file->chunks[below(file, file->count)];
    struct bp_chunk chunk = head(file, at);
    chunk.count += (uint32_t)below(file, 7) - 3;
    if (chunk.count > chunk.capacity)
        chunk.count = chunk.capacity;
    memcpy(file->data + at, &chunk, sizeof(chunk));
}

static void remove_chunk(struct file *file) {
    size_t at = file->chunks[below(file, file->count)];
    size_t size = head(file, at).size;
    memmove(file->data + at, file->data + at + size, file->size - at - size);
    file->size -= size;
}

/* The same once more, at the end, perhaps as another kind or of another thread. */
static void add_chunk(struct file *file) {
    size_t at = file->chunks[below(file, file->count)];
    struct bp_chunk chunk = head(file, at);
    if (chunk.size > file->limit - file->size)
        return;
    memcpy(file->data + file->size, file->data + at, chunk.size);
    chunk.first += chunk.count;
    chunk.address += file->size - at;
    if (below(file, 2))
        chunk.thread = (uint32_t)below(file, 3);
    if (below(file, 4) == 0)
        chunk.kind = (uint16_t)below(file, BP_KINDS);
    memcpy(file->data + file->size, &chunk, sizeof(chunk));
    file->size += chunk.size;
}

static void change_once(struct file *file) {
    uint64_t used;
    switch (below(file, 16)) {
    case 0:
        change_field(file, 0, 256);
        break;
    case 1:
        change_field(file, file->chunks[below(file, file->count)], sizeof(struct bp_chunk));
        break;
    case 2:
        remove_chunk(file);
        break;
    case 3:
        add_chunk(file);
        break;
    case 4:
        change_count(file);
        break;
    case 5:
    case 6:
        copy_item(file);
        break;
    case 7: /* the fields at the end of the header */
        change_field(file, BP_PAGE - 832, 128);
        break;
    default:
        change_item(file);
        return;
    }
    used = file->size;
    memcpy(file->data + offsetof(struct bp_header, used), &used, sizeof(used));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
    struct file file = {.data = data, .size = size, .limit = limit};
    file.random = ((uint64_t)seed + 1) * 0x9e3779b97f4a7c15u;
    if (size < BP_PAGE || below(&file, 24) == 0)
        return LLVMFuzzerMutate(data, size, limit);
    for (size_t n = 1 + below(&file, 6); n > 0; n--) {
        find_chunks(&file);
        if (file.count == 0)
            return LLVMFuzzerMutate(data, file.size, limit);
        change_once(&file);
    }
    return file.size;
}
