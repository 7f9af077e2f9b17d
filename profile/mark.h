/* SPDX-License-Identifier: MIT
 *
 * Putting a mark beside the wall page of a run: from any of its processes, and from the command.
 */
#ifndef BP_PROFILE_MARK_H
#define BP_PROFILE_MARK_H

#include "profile/format.h"

/* 0 if there was no room left. `text` is cut to what a mark holds. */
static inline int bp_mark_put(struct bp_chunk *chunk, uint64_t ticks, int32_t pid,
                              enum bp_mark_kind kind, const char *text) {
    uint64_t place = __atomic_fetch_add(&chunk->links[1], 1, __ATOMIC_RELAXED);
    if (place >= chunk->capacity)
        return 0;
    struct bp_run_mark *mark = (struct bp_run_mark *)(chunk + 1) + place;
    mark->ticks = ticks;
    mark->pid = pid;
    for (unsigned i = 0; i + 1 < sizeof mark->text && text[i]; i++)
        mark->text[i] = text[i];
    __atomic_store_n(&mark->kind, (uint32_t)kind, __ATOMIC_RELEASE);
    uint32_t count = __atomic_load_n(&chunk->count, __ATOMIC_RELAXED);
    while (count < place + 1 &&
           !__atomic_compare_exchange_n(&chunk->count, &count, (uint32_t)place + 1, 0,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return 1;
}

#endif
