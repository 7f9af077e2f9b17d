/* SPDX-License-Identifier: MIT
 *
 * Items of one kind that one thread owns in the profile file, each once: found by the words it
 * begins with. Made for a signal handler: memory comes from system calls, the file grows under the
 * process lock, which nobody holds with signals open.
 */
#ifndef BP_INTERPOSE_SAMPLE_LIST_H
#define BP_INTERPOSE_SAMPLE_LIST_H

#include "interpose/ledger/thread.h"

/* Frames and samples of a thread: 0.4 and 0.7 MB of file. */
#define BP_LIST_LIMIT 16384
#define BP_LIST_CHUNKS 12 /* the first has 100 items or more, each next one twice as many */

struct bp_list {
    enum bp_chunk_kind kind;
    uint32_t key; /* bytes, a multiple of 4 */
    uint32_t count;
    uint32_t mask;   /* of slots: their number less 1 */
    uint32_t *slots; /* index + 1, open addressing */
    struct bp_chunk *chunks[BP_LIST_CHUNKS];
    uint32_t chunk_count;
    uint32_t closed;
};

/* The item that begins with `key`, a new one if need be, the rest of it zero. NULL when there are
 * too many or there is no memory. */
void *bp_list_get(struct bp_list *list, const struct bp_thread *thread, const void *key,
                  uint32_t *index);

/* Gives its memory back; what is in the file stays. */
void bp_list_free(struct bp_list *list);

/* From now on there is room for nothing. In a forked child, too, where its items are empty. */
void bp_list_close(struct bp_list *list);

#endif
