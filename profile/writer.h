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
    uint64_t more; /* bytes that the file is known to need beside a program's, when it is made */
    uint64_t device, inode; /* to know the file again when it is opened to grow */
    const uint32_t *alive;  /* 0 there: a process that must not write; NULL: there is none such */
    struct bp_snapshot *snapshot; /* by bp_writer_before_fork; it may stay for the next time */
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

/* Give back what the file has beyond its chunks, unless that is little. It may still grow. */
void bp_writer_trim(struct bp_writer *writer);

/* Around fork, with the caller's lock held all the time. Before: keep what the child needs and what
 * may change in the parent meanwhile; `thread` is the one that forks. 0 or -errno. After, in both:
 * that is not needed any more. */
int bp_writer_before_fork(struct bp_writer *writer, uint32_t thread);
void bp_writer_after_fork(struct bp_writer *writer);

/* In a forked child: go on in a file of its own, with the chunks that writer_snapshot.c names at
 * the same addresses. The parent's file is not touched again. The header has no magic number yet:
 * it is a profile when the caller says so. If it fails: the same without a file, where everything
 * is lost with the process, because of `error`. 0 or -errno. If that fails, too, some of the memory
 * is still the parent's and the child must not record. */
int bp_writer_fork(struct bp_writer *writer, const char *path);
int bp_writer_detach(struct bp_writer *writer, int error);

static inline void *bp_chunk_items(struct bp_chunk *chunk) {
    return chunk + 1;
}

#endif
