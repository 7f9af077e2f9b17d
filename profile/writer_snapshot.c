/* SPDX-License-Identifier: MIT
 *
 * Before a fork, by the thread that forks and with the lock held: the file that the child will
 * have. The parent's threads go on writing in theirs from the instant of the fork, so the child
 * believes nothing that it finds there. `bp_writer_rules` says for every kind of chunk what it gets
 * instead; docs/internals/fork.md has it in words.
 */
#include "profile/writer_snapshot.h"

#include <errno.h>

#include "profile/sys.h"

/* Bytes of memory at most that stay for the next fork, and that the parent fills alone. */
#define LARGEST_KEPT (256u << 10)

const uint8_t bp_writer_rules[BP_KINDS] = {
    [BP_STRINGS] = BP_CHUNK_APPENDED,
    [BP_VARIABLES] = BP_CHUNK_APPENDED,
    [BP_MODULES] = BP_CHUNK_APPENDED,
    [BP_OBJECTS] = BP_CHUNK_COPIED,
    [BP_FUNCS] = BP_CHUNK_COPIED,
    [BP_THREADS] = BP_CHUNK_THREAD,
    [BP_NODES] = BP_CHUNK_CONTEXTS,
    [BP_ENTRIES] = BP_CHUNK_COPIED,
    [BP_TREE] = BP_CHUNK_STAYS,
    [BP_MARKS] = BP_CHUNK_STAYS,
    [BP_DEVICES] = BP_CHUNK_DETACHED,
    [BP_TRANSFERS] = BP_CHUNK_DETACHED,
    [BP_KERNELS] = BP_CHUNK_DETACHED,
    [BP_SPLITS] = BP_CHUNK_DETACHED,
    [BP_WAITS] = BP_CHUNK_DETACHED,
    [BP_COLLECTOR] = BP_CHUNK_DETACHED,
    [BP_ASKED] = BP_CHUNK_DETACHED,
    [BP_FRAMES] = BP_CHUNK_EMPTIED,
    [BP_SAMPLES] = BP_CHUNK_EMPTIED,
    [BP_SAMPLER] = BP_CHUNK_COPIED,     /* then without samples: what is on or off stays */
    [BP_LINE_COUNTS] = BP_CHUNK_COPIED, /* then set to zero: Python's code objects point there */
};

static void copy_bytes(char *to, const char *from, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        to[i] = from[i];
}

static void clear(char *memory, uint64_t size) {
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)memory)[i] = 0;
}

static int holds(const struct bp_chunk *head, uint32_t thread) {
    return thread >= head->first && thread - head->first < head->capacity;
}

/* Whether the child's file has it: the forking thread's, and those of no thread. */
static int is_kept(const struct bp_chunk *head, uint32_t thread) {
    if (bp_writer_rules[head->kind] == BP_CHUNK_THREAD)
        return thread != BP_NO_THREAD && head->first <= thread;
    return bp_writer_rules[head->kind] >= BP_CHUNK_APPENDED &&
           (head->thread == BP_NO_THREAD || head->thread == thread);
}

/* Whether it is to stay as it was, in private memory: entries of other threads. */
static int is_copied_aside(const struct bp_chunk *head, uint32_t thread) {
    return head->kind == BP_ENTRIES && !is_kept(head, thread);
}

/* Items of a kept chunk. Threads after the forking one are as if they had never begun. */
static uint32_t kept_items(const struct bp_chunk *head, uint32_t thread) {
    if (bp_writer_rules[head->kind] != BP_CHUNK_THREAD)
        return head->kind == BP_ENTRIES ? head->capacity : head->count;
    return holds(head, thread) ? thread - head->first + 1 : head->capacity;
}

/* Only the last chunk of a kind is cut: the indices of the next follow from its capacity. */
static uint64_t kept_size(const struct bp_writer *writer, const struct bp_chunk_before *before) {
    const struct bp_chunk *head = &before->head;
    if (head->thread == BP_NO_THREAD && bp_writer_rules[head->kind] != BP_CHUNK_THREAD &&
        writer->open[head->kind] != before->chunk)
        return head->size;
    return bp_writer_round(sizeof *head + (uint64_t)head->count * head->item_size);
}

static void copy_contexts(struct bp_node *to, const struct bp_node *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        to[i].parent = from[i].parent;
        to[i].func = from[i].func;
        to[i].index = from[i].index;
        to[i].min = UINT64_MAX;
    }
}

/* The chunk as the child is to find it, in memory that is zero. */
static void build(const struct bp_chunk_before *before, uint32_t thread, struct bp_chunk *to) {
    const struct bp_chunk *head = &before->head;
    char *items = bp_chunk_items(to), *from = bp_chunk_items(before->chunk);
    *to = *head;
    to->size = before->kept;
    to->capacity = (uint32_t)((to->size - sizeof *to) / to->item_size);
    if (to->capacity > head->capacity)
        to->capacity = head->capacity;
    uint64_t bytes = (uint64_t)head->count * head->item_size;
    if (bp_writer_rules[head->kind] == BP_CHUNK_APPENDED) {
        copy_bytes(items, from, bytes);
    } else if (bp_writer_rules[head->kind] == BP_CHUNK_CONTEXTS) {
        copy_contexts((struct bp_node *)items, (struct bp_node *)from, head->count);
    } else if (bp_writer_rules[head->kind] == BP_CHUNK_COPIED) {
        bp_writer_copy(items, from, bytes);
    } else if (holds(head, thread)) { /* BP_CHUNK_THREAD */
        uint64_t item = (uint64_t)(thread - head->first) * head->item_size;
        bp_writer_copy(items + item, from + item, head->item_size);
    }
}

/* Room for all that may be copied. */
static uint64_t room(const struct bp_writer *writer, uint32_t thread) {
    uint64_t size = sizeof(struct bp_snapshot) + 2 * BP_PAGE;
    for (const struct bp_chunk *c = writer->chunks; c; c = (struct bp_chunk *)c->links[0]) {
        size += sizeof(struct bp_chunk_before);
        if (is_kept(c, thread) || is_copied_aside(c, thread))
            size += c->size;
    }
    return bp_writer_round(size);
}

static struct bp_snapshot *need_snapshot(struct bp_writer *writer, uint64_t size) {
    struct bp_snapshot *snapshot = writer->snapshot;
    if (snapshot && snapshot->size < size) {
        BP_SYS2(SYS_munmap, snapshot, snapshot->size);
        snapshot = NULL;
    }
    if (!snapshot && (snapshot = bp_writer_memory(size)) != NULL)
        snapshot->size = size;
    return writer->snapshot = snapshot;
}

static void list_chunks(const struct bp_writer *writer, struct bp_snapshot *snapshot) {
    snapshot->count = 0;
    for (struct bp_chunk *c = writer->chunks; c; c = (struct bp_chunk *)c->links[0])
        snapshot->chunks[snapshot->count++] = (struct bp_chunk_before){.chunk = c, .head = *c};
    snapshot->memory = (char *)bp_writer_round((uint64_t)&snapshot->chunks[snapshot->count]);
}

/* Places in the child's file, oldest first, as in the parent's memory; then behind it. */
static void plan(const struct bp_writer *writer, struct bp_snapshot *snapshot) {
    uint64_t offset = BP_PAGE, older = 0;
    for (uint32_t i = snapshot->count; i-- > 0;) {
        struct bp_chunk_before *before = &snapshot->chunks[i];
        if (!is_kept(&before->head, snapshot->thread))
            continue;
        before->head.count = kept_items(&before->head, snapshot->thread);
        before->head.links[0] = older;
        older = (uint64_t)before->chunk;
        before->offset = offset;
        before->kept = kept_size(writer, before);
        offset += before->kept;
    }
    snapshot->used = offset;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        struct bp_chunk_before *before = &snapshot->chunks[i];
        if (!is_copied_aside(&before->head, snapshot->thread))
            continue;
        before->offset = offset;
        offset += before->head.size;
    }
}

/* All but what the process did: whoever is to describe it says the rest. The magic number comes
 * last, when the file is a profile. */
static void build_header(const struct bp_header *from, struct bp_header *header, uint64_t used) {
    bp_writer_copy(header, from, sizeof *header);
    for (unsigned i = 0; i < sizeof header->magic; i++)
        header->magic[i] = 0;
    header->used = used;
    header->flags &= ~BP_LOST_DISK;
    header->lost_errno = header->threads_folded = header->node_limit_hits = 0;
    header->tasks_plain = header->tasks_lost = header->last_node = header->last_thread = 0;
    header->lost_bytes = header->task_time = header->last_time = 0;
    header->startup = header->startup_queued[0] = header->startup_queued[1] = 0;
}

/* Whether the child itself can take the contents from its parent's memory. */
static int never_changes(const struct bp_chunk *head) {
    return bp_writer_rules[head->kind] == BP_CHUNK_APPENDED ||
           bp_writer_rules[head->kind] == BP_CHUNK_CONTEXTS;
}

/* A large file is made in two parts, so that the parent need not wait for the second. */
static int is_large(const struct bp_snapshot *snapshot) {
    return snapshot->size > LARGEST_KEPT;
}

static void build_chunks(const struct bp_snapshot *snapshot, int in_child) {
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        struct bp_chunk *copy = (struct bp_chunk *)(snapshot->memory + before->offset);
        int later = is_large(snapshot) && never_changes(&before->head);
        if (before->offset && before->kept && later == in_child)
            build(before, snapshot->thread, copy);
        else if (before->offset && !before->kept && !in_child)
            bp_writer_copy(copy, before->chunk, before->head.size);
    }
}

void bp_writer_complete(const struct bp_snapshot *snapshot) {
    build_chunks(snapshot, 1);
}

int bp_writer_before_fork(struct bp_writer *writer, uint32_t thread) {
    struct bp_snapshot *snapshot = need_snapshot(writer, room(writer, thread));
    if (!snapshot)
        return -ENOMEM;
    int again = snapshot->used != 0;
    snapshot->thread = thread;
    snapshot->begun = snapshot->torn = 0;
    list_chunks(writer, snapshot);
    plan(writer, snapshot);
    if (again)
        clear(snapshot->memory, snapshot->used);
    build_header(writer->header, (struct bp_header *)snapshot->memory, snapshot->used);
    build_chunks(snapshot, 0);
    return 0;
}

void bp_writer_after_fork(struct bp_writer *writer) {
    struct bp_snapshot *snapshot = writer->snapshot;
    if (!snapshot || (snapshot->size <= LARGEST_KEPT && !snapshot->torn))
        return;
    BP_SYS2(SYS_munmap, snapshot, snapshot->size);
    writer->snapshot = NULL;
}
