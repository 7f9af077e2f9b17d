/* SPDX-License-Identifier: MIT
 *
 * The size of an item of each kind, and the head of a chunk, for whoever makes or reads chunks.
 */
#ifndef BP_PROFILE_ITEMS_H
#define BP_PROFILE_ITEMS_H

#include "profile/format.h"

static const uint16_t bp_item_sizes[BP_KINDS] = {
    [BP_STRINGS] = 1,
    [BP_OBJECTS] = sizeof(struct bp_object),
    [BP_FUNCS] = sizeof(struct bp_func),
    [BP_THREADS] = sizeof(struct bp_thread),
    [BP_NODES] = sizeof(struct bp_node),
    [BP_ENTRIES] = sizeof(struct bp_entry),
    [BP_REAPED] = sizeof(struct bp_reaped),
    [BP_TREE] = sizeof(struct bp_tree),
    [BP_DEVICES] = sizeof(struct bp_device),
    [BP_TRANSFERS] = sizeof(struct bp_transfer),
    [BP_KERNELS] = sizeof(struct bp_kernel),
    [BP_SPLITS] = sizeof(struct bp_split),
    [BP_WAITS] = sizeof(struct bp_wait),
    [BP_COLLECTOR] = sizeof(struct bp_collector),
    [BP_FRAMES] = sizeof(struct bp_frame),
    [BP_SAMPLES] = sizeof(struct bp_sample),
    [BP_SAMPLER] = sizeof(struct bp_sampler),
    [BP_TASKS] = sizeof(struct bp_task),
    [BP_TASK_NODES] = sizeof(struct bp_task_node),
    [BP_TASK_FOLDS] = sizeof(struct bp_task_fold),
    [BP_VARIABLES] = sizeof(struct bp_variable),
    [BP_ASKED] = sizeof(struct bp_transfer),
    [BP_LINE_COUNTS] = sizeof(struct bp_line_count),
    [BP_MODULES] = sizeof(struct bp_module),
    [BP_MARKS] = sizeof(struct bp_run_mark),
};

/* Bytes of a chunk for so many items: whole pages. */
static inline uint64_t bp_chunk_size(enum bp_chunk_kind kind, uint32_t items) {
    uint64_t size = sizeof(struct bp_chunk) + (uint64_t)items * bp_item_sizes[kind];
    return (size + BP_PAGE - 1) & ~(uint64_t)(BP_PAGE - 1);
}

/* The head of an empty chunk, the first of its kind (and thread), in memory that is zero. */
static inline void bp_chunk_fill(struct bp_chunk *chunk, enum bp_chunk_kind kind, uint32_t thread,
                                 uint64_t size) {
    chunk->magic = BP_CHUNK_MAGIC;
    chunk->kind = (uint16_t)kind;
    chunk->item_size = bp_item_sizes[kind];
    chunk->size = size;
    chunk->address = (uint64_t)(uintptr_t)chunk;
    chunk->thread = thread;
    chunk->capacity = (uint32_t)((size - sizeof *chunk) / chunk->item_size);
}

#endif
