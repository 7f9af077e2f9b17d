/* SPDX-License-Identifier: MIT
 *
 * A profile in memory, made chunk by chunk by a program that is not the target: imports and tests.
 * The target's writer is of no use there, it maps a file that grows.
 */
#ifndef BP_PROFILE_IMAGE_H
#define BP_PROFILE_IMAGE_H

#include <stddef.h>

#include "profile/format.h"

struct bp_image {
    char *data; /* the header first */
    size_t size;
    uint64_t address; /* where a target would have it mapped */
    int error;        /* of the first step that failed; the later ones did nothing */
};

/* An empty header. */
void bp_image_init(struct bp_image *image, uint64_t address);
void bp_image_fini(struct bp_image *image);

/* Appends a chunk that has `count` items, copies of `items` or zeros where that is NULL, and no
 * room for more. Its offset; 0 if that failed. */
size_t bp_image_add(struct bp_image *image, enum bp_chunk_kind kind, uint32_t thread,
                    const void *items, uint32_t count);

#endif
