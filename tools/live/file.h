/* SPDX-License-Identifier: MIT
 *
 * One profile of a running program, mapped read-only for as long as somebody looks at it. It grows
 * under the reader's eyes; it may also be cut, damaged or foreign. Where a page has been cut off
 * the reader finds zeros instead of SIGBUS, and the file says so. Nothing here writes to the file.
 */
#ifndef BP_TOOLS_LIVE_FILE_H
#define BP_TOOLS_LIVE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/live.h"

/* A chunk whose head was found whole: these fields never change. */
struct bp_live_chunk {
    uint64_t offset; /* in the file, of the head */
    uint64_t address;
    uint64_t size;
    uint32_t thread;
    uint32_t first;
    uint16_t kind;
    uint16_t item_size;
};

struct bp_live_file {
    char *path;
    struct bp_live live; /* data is NULL while it is not mapped */
    struct bp_live_chunk *chunks;
    uint32_t chunk_count;
    bool cut; /* by somebody else, while it was mapped */
    struct bp_live_file *next;
};

/* 0, or -errno; -EPROTO for what is no profile, or one of another major format. The path is
 * copied. */
int bp_live_file_open(struct bp_live_file *file, const char *path);
void bp_live_file_close(struct bp_live_file *file);

/* Takes in what was added to the file. */
void bp_live_file_update(struct bp_live_file *file);

static inline const struct bp_header *bp_live_file_header(const struct bp_live_file *file) {
    return (const struct bp_header *)file->live.data;
}

/* The items of a chunk that are in use and lie in it whole; NULL if they have less than `least`
 * bytes each. */
const char *bp_live_file_items(const struct bp_live_file *file, const struct bp_live_chunk *chunk,
                               size_t least, uint32_t *count);

/* A copy of a string, with blanks for control characters; "" if there is none. */
void bp_live_file_text(const struct bp_live_file *file, uint32_t index, char *text, size_t size);

/* The item at an address of the target, in a chunk of this kind and thread, and its index; NULL if
 * no chunk was mapped there. */
const void *bp_live_file_at(const struct bp_live_file *file, enum bp_chunk_kind kind,
                            uint32_t thread, uint64_t address, size_t size, uint32_t *index);

#endif
