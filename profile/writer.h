/* SPDX-License-Identifier: MIT
 *
 * The writing side of the profile file, inside the target. The file is mapped as it grows; items
 * are stored in place by whoever owns them. Growing takes system calls and the caller's lock;
 * storing takes neither. Built without vector registers and without libc calls, because it runs
 * below stubs with the target's argument registers live.
 *
 * When the file cannot grow (disk full, RLIMIT_FSIZE, privileges dropped) a chunk comes from
 * anonymous memory instead: the target goes on, the header says how much is lost.
 */
#ifndef BP_PROFILE_WRITER_H
#define BP_PROFILE_WRITER_H

#include <stddef.h>

#include "profile/format.h"

#define BP_WRITER_PATH 600

struct bp_writer {
    struct bp_header *header;
    struct bp_chunk *chunks;         /* all of them, newest first, through links[0] */
    struct bp_chunk *open[BP_KINDS]; /* by kind: where the next item of no thread goes */
    char path[BP_WRITER_PATH];
    char *spare; /* mapped and reserved beyond header->used */
    uint64_t spare_size;
    uint64_t device, inode; /* to know the file again when it is opened to grow */
};

/* Create the file with its header; -errno, and -EEXIST if there is one of that name. */
int bp_writer_create(struct bp_writer *writer, const char *path);

/* A new chunk of at least `items` items, zeroed and ready. NULL only without any memory. */
struct bp_chunk *bp_writer_chunk(struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t thread,
                                 uint32_t first, uint32_t items);

/* The next item of a kind that belongs to no thread, and its index. It counts from
 * bp_writer_commit on. NULL without memory. */
void *bp_writer_item(struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t *index);
void bp_writer_commit(struct bp_writer *writer, enum bp_chunk_kind kind);

/* An item that was committed, by its index; NULL if there is none. */
void *bp_writer_get(const struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t index);

/* Index of a copy of `text`; 0, the empty string, without memory. */
uint32_t bp_writer_string(struct bp_writer *writer, const char *text);

/* In a forked child: go on in a file of its own, with all chunks of no thread and those of
 * `thread` at the same addresses. What the parent knows of devices is left out; its items stay as
 * private memory. Samples and tasks are left out and their memory is gone. The parent's file is not
 * touched again. */
int bp_writer_fork(struct bp_writer *writer, const char *path, uint32_t thread);

static inline void *bp_chunk_items(struct bp_chunk *chunk) {
    return chunk + 1;
}

#endif
