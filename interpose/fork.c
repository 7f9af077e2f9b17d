/* SPDX-License-Identifier: MIT
 *
 * The ledger across fork. The file's memory is shared with the child, and the parent goes on
 * writing there before the child has moved out: what must not change is copied before the fork.
 * In the child, in its own file, the copy is put back, counters go to zero, and open calls are
 * marked as the parent's. Everything happens with the process lock held; built without vector
 * registers, as thread.c.
 */
#include <sys/mman.h>

#include "interpose/copy.h"
#include "interpose/task.h"
#include "profile/clock.h"

/* What a forked child must have as it was at the fork. */
static struct {
    struct bp_thread thread;
    char *memory; /* {chunk, count} of all chunks, then the entries of the forking thread */
    uint64_t size;
    uint32_t chunks;
} snapshot;

struct saved_count {
    struct bp_chunk *chunk;
    uint64_t count;
};

static struct bp_chunk *next_chunk(const struct bp_chunk *chunk) {
    return (struct bp_chunk *)chunk->links[0];
}

static int is_own_entries(const struct bp_chunk *chunk) {
    return chunk->kind == BP_ENTRIES && bp_self && chunk->thread == bp_self->index;
}

static void copy_words(void *to, const void *from, uint64_t size) {
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

void bp_thread_before_fork(void) {
    snapshot.chunks = 0;
    snapshot.size = 0;
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = next_chunk(c)) {
        snapshot.size += sizeof(struct saved_count) + (is_own_entries(c) ? c->size : 0);
        snapshot.chunks++;
    }
    snapshot.memory = bp_pages_new(snapshot.size);
    if (!snapshot.memory)
        return;
    struct saved_count *count = (struct saved_count *)snapshot.memory;
    char *entries = (char *)(count + snapshot.chunks);
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = next_chunk(c)) {
        *count++ = (struct saved_count){c, c->count};
        if (is_own_entries(c)) {
            copy_words(entries, c, c->size);
            entries += c->size;
        }
    }
    if (bp_self)
        snapshot.thread = *bp_self;
}

void bp_thread_after_fork_parent(void) {
    if (snapshot.memory)
        BP_SYS2(SYS_munmap, snapshot.memory, snapshot.size);
    snapshot.memory = NULL;
}

/* Items that the parent has added since are none of ours. */
static void cut_back(struct bp_chunk *chunk, uint32_t count) {
    uint64_t *from = (uint64_t *)((char *)bp_chunk_items(chunk) + (size_t)count * chunk->item_size);
    uint64_t *end = (uint64_t *)((char *)chunk + chunk->size);
    chunk->count = count;
    while (chunk->kind == BP_NODES && from < end)
        *from++ = 0;
}

static void put_back(struct bp_thread *thread) {
    const struct saved_count *count = (const struct saved_count *)snapshot.memory;
    const char *entries = (const char *)(count + snapshot.chunks);
    for (uint32_t i = 0; i < snapshot.chunks; i++, count++) {
        struct bp_chunk *chunk = count->chunk;
        const struct bp_chunk *kept = bp_process.writer.chunks;
        while (kept && kept != chunk)
            kept = next_chunk(kept);
        if (!kept)
            continue;
        if (is_own_entries(chunk)) {
            uint64_t links[2] = {chunk->links[0], chunk->links[1]};
            copy_words(chunk, entries, chunk->size);
            chunk->links[0] = links[0];
            chunk->links[1] = links[1];
            entries += chunk->size;
        }
        cut_back(chunk, (uint32_t)count->count);
    }
    *thread = snapshot.thread;
}

static void forget_other_threads(const struct bp_thread *self) {
    for (struct bp_chunk *c = bp_process.writer.chunks; c; c = next_chunk(c)) {
        struct bp_thread *threads = bp_chunk_items(c);
        for (uint32_t i = 0; c->kind == BP_THREADS && i < c->count; i++)
            if (&threads[i] != self)
                threads[i].state = BP_THREAD_UNUSED;
    }
    bp_process.dead = NULL;
}

/* The alias of a child that forks again is for another entry soon: back to what it stands for. */
static uint64_t behind_alias(struct bp_thread *thread, uint64_t entry) {
    return entry == (uint64_t)&thread->alias
               ? (uint64_t)((struct bp_local *)thread->local)->inherited
               : entry;
}

/* The parent counts the calls that are open; here only their time from now on is ours. */
static void inherit(struct bp_thread *thread, uint64_t now) {
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_entry *innermost = (struct bp_entry *)behind_alias(thread, thread->current);
    for (struct bp_entry *e = innermost; e != &thread->root; e = (struct bp_entry *)e->parent) {
        e->sp |= BP_ENTRY_INHERITED;
        e->start = now;
        e->child = 0;
        e->source = bp_source_over(e->source); /* its library's records are the parent's */
        e->parent = behind_alias(thread, e->parent);
    }
    bp_copies_forget(local); /* they are counted in the parent's file */
    local->copies = NULL;    /* and their source is to know that it was forked */
    bp_node_reset_all(thread);
    bp_thread_open_root(thread, (struct bp_node *)thread->root.node, now);
    bp_thread_uncover(thread, innermost);
}

void bp_thread_after_fork_child(void) {
    struct bp_thread *thread = bp_self;
    uint64_t now = bp_clock_now(bp_process.clock);
    if (snapshot.memory && thread)
        put_back(thread);
    bp_thread_after_fork_parent();
    forget_other_threads(thread);
    bp_task_after_fork(thread);
    if (!thread)
        return;
    inherit(thread, now);
    thread->tid = (int32_t)BP_SYS0(SYS_gettid);
    thread->lives = 1;
    thread->lifetime = thread->cpu_ns = thread->runqueue_ns = 0;
    thread->v = thread->idle = thread->wait_entry = 0;
    thread->in_tree = 0;
    bp_wall_join(thread, now);
}
