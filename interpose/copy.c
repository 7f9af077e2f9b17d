/* SPDX-License-Identifier: MIT */
#include "interpose/copy.h"

#include "interpose/sample/tables.h"

#define RARE __attribute__((noinline, cold))

void bp_source_know_copies(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    if (!local->copies && !local->copies_off)
        local->copies = bp_pages_new(sizeof *local->copies);
}

/* What bp_entry.source tells of a copy. */
static uint64_t bytes_of(uint64_t told) {
    return told >> (64 - BP_COPY_BITS);
}

static uint32_t kind_of(uint64_t told) {
    return (uint32_t)(told >> BP_COPY_SHIFT) & BP_COPY_KINDS;
}

static uint32_t place_of(const struct bp_entry *entry, const struct bp_copy_frame *frame,
                         uint64_t told) {
    uint64_t hash = (uint64_t)frame / sizeof *frame + entry->node / sizeof(uint64_t) +
                    (told >> BP_COPY_SHIFT & BP_COPY_KINDS);
    return (uint32_t)hash % BP_COPIES;
}

static inline int is_known(const struct bp_copy_known *known, const struct bp_entry *entry,
                           const struct bp_copy_frame *frame, uint64_t told) {
    return known->frame == (uint64_t)frame && known->node == entry->node &&
           known->ret == entry->ret && known->kind == kind_of(told) &&
           known->generation == bp_tables_generation() && bp_trail_holds(known->trail);
}

/* The time of a call that waits for its copy is the copy's. */
static RARE void count_time(const struct bp_copy_known *known, uint64_t start, uint64_t time) {
    known->transfer->exposed += time;
    known->split->time += time;
    known->split->transfer += time;
    bp_source_spent(bp_self->index, start, time, time, 0);
}

static inline void count(const struct bp_copy_known *known, const struct bp_entry *entry,
                         uint64_t bytes, uint64_t time) {
    bp_transfer_copy(known->transfer, bytes, time);
    known->split->calls++;
    known->sample->count++;
    known->sample->weight += bytes;
    if (known->waits)
        count_time(known, entry->start, time);
}

/* The first of its kind, or from a path that was not there before. */
static RARE void count_new(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame,
                           uint64_t told) {
    struct bp_thread *thread = bp_self;
    struct bp_copies *copies = ((struct bp_local *)thread->local)->copies;
    struct bp_copy copy = {(uint32_t)told >> 16 & ~(BP_STUB_TOLD >> 16), kind_of(told),
                           bytes_of(told)};
    struct bp_copy_sums sums = {.transfer = NULL};
    bp_sources[BP_STUB_SOURCE_OF((uint32_t)told) - 1]->copied(thread, entry, &copy, now, &sums);
    if (!copies)
        return;
    uint32_t place = place_of(entry, frame, told);
    struct bp_trail *trail = &copies->trails[place];
    copies->known[place].frame = 0;
    struct bp_sample *sample = bp_site_find(thread, entry, frame, copy.bytes, trail);
    if (sums.transfer && sample)
        copies->known[place] = (struct bp_copy_known){.frame = (uint64_t)frame,
                                                      .node = entry->node,
                                                      .ret = entry->ret,
                                                      .generation = trail->generation,
                                                      .kind = (uint16_t)copy.kind,
                                                      .waits = (uint16_t)sums.waits,
                                                      .trail = trail,
                                                      .transfer = sums.transfer,
                                                      .split = sums.split,
                                                      .sample = sample};
}

/* `told` is 0 if the call is not this process's, or was given up. */
int bp_copy_leave(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame) {
    uint64_t told = entry->source;
    entry->source = 0;
    if (!bp_thread_leave(entry, now, frame->rax))
        return 0;
    if (told && (uint32_t)frame->rax == 0)
        count_new(entry, now, frame, told);
    return 1;
}

void bp_copy_count(struct bp_entry *entry, uint64_t time, const struct bp_copy_frame *frame) {
    const struct bp_copies *copies = ((const struct bp_local *)bp_self->local)->copies;
    uint64_t told = entry->source;
    const struct bp_copy_known *known = &copies->known[place_of(entry, frame, told)];
    entry->source = 0;
    if (__builtin_expect(!copies || !is_known(known, entry, frame, told), 0))
        count_new(entry, entry->start + time, frame, told);
    else
        count(known, entry, bytes_of(told), time);
}
