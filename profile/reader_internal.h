/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of the reader: reader.c (file, header, messages), reader_chunks.c (where the
 * chunks are, copying their items), reader_threads.c (nodes and open calls), reader_devices.c,
 * reader_samples.c and reader_tasks.c.
 */
#ifndef BP_PROFILE_READER_INTERNAL_H
#define BP_PROFILE_READER_INTERNAL_H

#include "profile/reader.h"

struct bp_reader_chunk {
    uint64_t offset;
    struct bp_chunk head; /* checked: capacity fits size, size fits the chunk chain */
    uint32_t present;     /* items whose bytes are in the file */
    char *entries;        /* of BP_ENTRIES, read when first needed */
};

struct bp_reader {
    int fd;
    uint64_t size; /* of the file */
    struct bp_profile *profile;
    struct bp_reader_chunk *chunks; /* by kind, thread, first */
    uint32_t *by_address;           /* the chunks whose items are pointed to */
    uint32_t chunk_count;
    uint32_t address_count;
    uint64_t broken_at;  /* offset where the chain of chunks ends early, or 0 */
    uint32_t bad_chunks; /* left out: nonsense in their head */
    uint32_t bad_items;  /* repaired */
    bool truncated;
};

/* A run of chunks of one kind and thread in `chunks`. */
struct bp_reader_range {
    uint32_t first;
    uint32_t count;
};

/* Reads exactly `size` bytes; 0 or -errno, -EBADMSG if the file ends before. */
int bp_reader_pread(struct bp_reader *reader, void *data, size_t size, uint64_t offset);

int bp_reader_scan(struct bp_reader *reader);
struct bp_reader_range bp_reader_find(const struct bp_reader *reader, uint32_t kind,
                                      uint32_t thread);

/* The items of a range as one new array of `known` bytes each, `spare` more zeroed ones behind. */
int bp_reader_load(struct bp_reader *reader, struct bp_reader_range range, size_t known,
                   uint32_t spare, void **items, uint32_t *count);

/* The chunk of `kind` whose items cover the target's address, and the item's index in that chunk
 * and the offset in the item; NULL if there is none. */
struct bp_reader_chunk *bp_reader_resolve(const struct bp_reader *reader, uint32_t kind,
                                          uint64_t address, uint32_t *index, uint32_t *offset);

int bp_reader_load_threads(struct bp_reader *reader);
int bp_reader_load_devices(struct bp_reader *reader);
/* When threads and their nodes are known: contexts that do not exist become unknown ones. */
void bp_reader_check_devices(struct bp_profile *profile);

/* Tasks are loaded and checked apart: their details come before the nodes that they name. */
int bp_reader_load_tasks(struct bp_reader *reader);
int bp_reader_check_tasks(struct bp_reader *reader);

/* The thread of a slot, NULL if it is not there. */
const struct bp_profile_thread *bp_reader_thread(const struct bp_profile *profile, uint32_t slot);
/* All items of a kind of no thread; NULL after the first failure, which stays in `result`. */
void *bp_reader_take(struct bp_reader *reader, enum bp_chunk_kind kind, uint32_t *count,
                     int *result);

/* Loads one thread's samples before its nodes are loaded, and checks them when they are. */
int bp_reader_load_samples(struct bp_reader *reader, struct bp_profile_thread *thread);
void bp_reader_check_samples(struct bp_reader *reader, struct bp_profile_thread *thread);
/* After the functions. */
int bp_reader_load_lines(struct bp_reader *reader);
int bp_reader_load_sampler(struct bp_reader *reader);

/* Ends the text and takes out what could drive a terminal. */
void bp_reader_clean(char *text, size_t size);

#endif
