/* SPDX-License-Identifier: MIT
 *
 * What writer_snapshot.c makes before a fork for writer_fork.c in the child: which pages of the
 * parent's file the child's has, and what is in them.
 */
#ifndef BP_PROFILE_WRITER_SNAPSHOT_H
#define BP_PROFILE_WRITER_SNAPSHOT_H

#include "profile/writer_internal.h"

enum bp_writer_rule {
    BP_CHUNK_GONE,     /* not mapped any more: whoever had pointers there has forgotten them */
    BP_CHUNK_STAYS,    /* the parent's memory, on purpose */
    BP_CHUNK_EMPTIED,  /* private zeros: a call that the fork came in between may yet write there */
    BP_CHUNK_DETACHED, /* private, with whatever is there: read by somebody, believed by nobody */
    BP_CHUNK_APPENDED, /* the first `count` items, which never change */
    BP_CHUNK_COPIED,   /* as before the fork */
    BP_CHUNK_THREAD,   /* only the forking thread's item, as before the fork */
    BP_CHUNK_CONTEXTS  /* nodes that have counted nothing */
};

/* By the kind of a chunk. */
extern const uint8_t bp_writer_rules[BP_KINDS] __attribute__((visibility("hidden")));

/* A chunk as it was before the fork. */
struct bp_chunk_before {
    struct bp_chunk *chunk;
    struct bp_chunk head;
    uint64_t kept;   /* bytes in the child's file; 0: not there */
    uint64_t offset; /* of its copy in `memory`; 0: there is none */
};

/* The child's file, and behind it what the child has in private memory alone. It stays for the next
 * fork unless it is large. */
struct bp_snapshot {
    uint64_t size; /* of all this memory */
    char *memory;  /* of the file, whole pages */
    uint64_t used; /* by the file */
    uint32_t thread;
    uint32_t count;
    uint32_t begun;                  /* the child has begun to move: it cannot try another way */
    uint32_t torn;                   /* pages of `memory` were moved away */
    struct bp_chunk_before chunks[]; /* newest first */
};

/* In the child, before anything else: what was left to it. */
void bp_writer_complete(const struct bp_snapshot *snapshot);

static inline void bp_writer_copy(void *to, const void *from, uint64_t size) {
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

#endif
