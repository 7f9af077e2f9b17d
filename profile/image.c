/* SPDX-License-Identifier: MIT */
#include "profile/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/items.h"

/* Zeros behind what is there. */
static int grow(struct bp_image *image, size_t size) {
    char *data = image->error ? NULL : realloc(image->data, image->size + size);
    if (!data) {
        image->error = -ENOMEM;
        return image->error;
    }
    memset(data + image->size, 0, size);
    image->data = data;
    image->size += size;
    ((struct bp_header *)data)->used = image->size;
    return 0;
}

void bp_image_init(struct bp_image *image, uint64_t address) {
    *image = (struct bp_image){.address = address};
    grow(image, BP_PAGE);
}

void bp_image_fini(struct bp_image *image) {
    free(image->data);
    image->data = NULL;
}

size_t bp_image_add(struct bp_image *image, enum bp_chunk_kind kind, uint32_t thread,
                    const void *items, uint32_t count) {
    size_t offset = image->size, size = bp_chunk_size(kind, count);
    if (grow(image, size))
        return 0;
    struct bp_chunk *chunk = (struct bp_chunk *)(image->data + offset);
    bp_chunk_fill(chunk, kind, thread, size);
    chunk->address = image->address + offset;
    chunk->capacity = chunk->count = count;
    if (items)
        memcpy(chunk + 1, items, (size_t)count * chunk->item_size);
    return offset;
}
