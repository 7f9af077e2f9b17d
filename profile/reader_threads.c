/* SPDX-License-Identifier: MIT
 *
 * The threads of a profile: their nodes, checked, and the calls that are still open. Pointers in a
 * thread's entries are addresses in the target; they are followed only where a chunk of the file
 * says it was mapped there, and never more often than there are entries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/reader_internal.h"

uint64_t bp_node_calls(const struct bp_node *node) {
    uint64_t calls = node->aborted + node->untimed;
    for (unsigned i = 0; i < BP_BUCKETS; i++)
        calls += node->histogram[i];
    return calls;
}

uint64_t bp_node_jumped(const struct bp_node *node) {
    uint64_t jumped = node->jumped + (node->jumping ? node->untimed : 0);
    return jumped < node->untimed ? jumped : node->untimed;
}

/* Makes parents come before children, which rules out cycles, and functions exist. A child of an
 * impossible parent goes to the root: its time is real, its place is lost. */
static void check_nodes(struct bp_reader *reader, struct bp_profile_thread *thread) {
    uint32_t unknown = reader->profile->func_count - 1;
    for (uint32_t i = 0; i < thread->node_count; i++) {
        struct bp_node *node = &thread->nodes[i];
        bool bad_parent = i == 0 ? node->parent != BP_NO_NODE : node->parent >= i;
        if (bad_parent)
            node->parent = i == 0 ? BP_NO_NODE : 0;
        bool bad_func = node->func >= unknown;
        if (bad_func)
            node->func = i == 0 ? 0 : unknown;
        bool bad_last = node->last >= BP_BUCKETS;
        node->histogram[0] = 0;
        if (node->last && !bad_last)
            node->histogram[node->last]++; /* now it has all returned calls */
        node->last = 0;
        reader->bad_items += bad_parent || bad_func || bad_last;
    }
}

static int load_entries(struct bp_reader *reader, struct bp_reader_chunk *chunk) {
    if (chunk->entries)
        return 0;
    size_t size = (size_t)chunk->present * chunk->head.item_size;
    chunk->entries = calloc(1, size + 1);
    if (!chunk->entries)
        return -ENOMEM;
    return bp_reader_pread(reader, chunk->entries, size, chunk->offset + sizeof(struct bp_chunk));
}

static int load_entry(struct bp_reader *reader, uint64_t address, struct bp_entry *entry) {
    uint32_t index;
    uint32_t offset;
    struct bp_reader_chunk *chunk = bp_reader_resolve(reader, BP_ENTRIES, address, &index, &offset);
    if (!chunk || offset != 0)
        return -EBADMSG;
    int result = load_entries(reader, chunk);
    if (result)
        return result;
    memcpy(entry, chunk->entries + (size_t)index * chunk->head.item_size, sizeof(*entry));
    return 0;
}

/* Index of the thread's node at a target address; the root if it is none of them. */
static uint32_t find_node(const struct bp_reader *reader, const struct bp_profile_thread *thread,
                          uint64_t address, uint32_t *offset) {
    uint32_t index;
    const struct bp_reader_chunk *chunk =
        bp_reader_resolve(reader, BP_NODES, address, &index, offset);
    if (!chunk || chunk->head.thread != thread->slot)
        return BP_NO_NODE;
    uint64_t node = (uint64_t)chunk->head.first + index;
    return node < thread->node_count ? (uint32_t)node : BP_NO_NODE;
}

static struct bp_profile_call describe(struct bp_reader *reader, struct bp_profile_thread *thread,
                                       const struct bp_entry *entry) {
    struct bp_profile_call call = {.start = entry->start, .child = entry->child};
    uint32_t offset = 0;
    call.flags = entry->sp & BP_ENTRY_INHERITED;
    call.counted = entry->sp == 0 && entry->source;
    call.seen = entry->rbx;
    call.node = find_node(reader, thread, entry->node, &offset);
    if (call.node == BP_NO_NODE || offset != 0) {
        reader->bad_items++;
        call.node = 0;
        return call;
    }
    return call;
}

static int add_open(struct bp_profile_thread *thread, struct bp_profile_call call,
                    uint32_t *allocated) {
    if (thread->open_count == *allocated) {
        uint32_t more = *allocated ? *allocated * 2 : 8;
        void *grown = realloc(thread->open, more * sizeof(*thread->open));
        if (!grown)
            return -ENOMEM;
        thread->open = grown;
        *allocated = more;
    }
    thread->open[thread->open_count++] = call;
    return 0;
}

static uint32_t count_entries(const struct bp_reader *reader) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < reader->address_count; i++) {
        const struct bp_reader_chunk *chunk = &reader->chunks[reader->by_address[i]];
        if (chunk->head.kind == BP_ENTRIES)
            total += chunk->present;
    }
    return total;
}

/* Where the target has what the chain can lead to. */
struct chain {
    uint64_t root;
    uint64_t alias;
    uint64_t curtain; /* the first of two */
    uint32_t limit;   /* entries in the file */
};

static int load_link(struct bp_reader *reader, const struct bp_profile_thread *thread,
                     struct chain *chain, uint64_t address, struct bp_entry *entry) {
    if (chain->limit == 0)
        return -EBADMSG;
    chain->limit--;
    if (address != chain->alias)
        return load_entry(reader, address, entry);
    *entry = thread->info.alias;
    return 0;
}

/* From the root inwards: the first open call of a function is its outermost. */
static int mark_outermost(const struct bp_reader *reader, struct bp_profile_thread *thread) {
    bool *open = calloc(reader->profile->func_count, sizeof(*open));
    if (!open)
        return -ENOMEM;
    for (uint32_t i = thread->open_count; i-- > 0;) {
        uint32_t func = thread->nodes[thread->open[i].node].func;
        thread->open[i].outermost = !open[func];
        open[func] = true;
    }
    free(open);
    return 0;
}

/* A curtain is no call. */
static uint64_t behind_curtain(const struct bp_profile_thread *thread, const struct chain *chain,
                               uint64_t address) {
    for (unsigned i = 0; i < 2; i++)
        if (address == chain->curtain + i * sizeof(struct bp_entry))
            return thread->info.curtain[i].parent;
    return address;
}

/* The chain current → … → root. It may be caught in the middle of a change or lead nowhere; then
 * the rest of the thread's time is its root's. */
static int load_open(struct bp_reader *reader, struct bp_profile_thread *thread,
                     struct chain chain) {
    uint32_t allocated = 0;
    uint64_t address = behind_curtain(thread, &chain, thread->info.current);
    while (address != chain.root) {
        struct bp_entry entry;
        int result = load_link(reader, thread, &chain, address, &entry);
        if (result == -EBADMSG) {
            reader->bad_items++;
            break;
        }
        if (result == 0 && !(entry.sp & BP_ENTRY_CLOSED))
            result = add_open(thread, describe(reader, thread, &entry), &allocated);
        if (result)
            return result;
        address = entry.parent;
    }
    const struct bp_entry *root = &thread->info.root;
    struct bp_profile_call call = {.start = root->start, .child = root->child};
    int result = add_open(thread, call, &allocated);
    return result ? result : mark_outermost(reader, thread);
}

/* 1 if the thread is whole, 0 if a part of it is lost, or -errno. */
static int load_thread(struct bp_reader *reader, struct bp_profile_thread *thread,
                       struct chain chain) {
    uint32_t state = thread->info.state;
    if (state != BP_THREAD_LIVE && state != BP_THREAD_ENDED)
        return 0;
    struct bp_reader_range range = bp_reader_find(reader, BP_NODES, thread->slot);
    for (uint32_t i = range.first; i < range.first + range.count; i++)
        if (reader->chunks[i].present < reader->chunks[i].head.count)
            return 0;
    void *nodes;
    int result = bp_reader_load_samples(reader, thread);
    if (result == 0)
        result =
            bp_reader_load(reader, range, sizeof(struct bp_node), 0, &nodes, &thread->node_count);
    if (result)
        return result;
    thread->nodes = nodes;
    if (thread->node_count == 0)
        return 0;
    check_nodes(reader, thread);
    bp_reader_check_samples(reader, thread);
    if (state == BP_THREAD_LIVE)
        result = load_open(reader, thread, chain);
    return result ? result : 1;
}

static void drop_thread(struct bp_profile_thread *thread) {
    free(thread->nodes);
    free(thread->open);
    free(thread->frames);
    free(thread->samples);
    *thread = (struct bp_profile_thread){0};
}

/* Where the target had the thread of this slot, or 0. */
static uint64_t thread_address(const struct bp_reader *reader, struct bp_reader_range range,
                               uint32_t slot) {
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        const struct bp_reader_chunk *chunk = &reader->chunks[i];
        if (slot >= chunk->head.first && slot - chunk->head.first < chunk->present)
            return chunk->head.address + sizeof(struct bp_chunk) +
                   (uint64_t)(slot - chunk->head.first) * chunk->head.item_size;
    }
    return 0;
}

static int load_slot(struct bp_reader *reader, uint32_t slot, const struct bp_thread *info,
                     uint64_t address, uint32_t limit) {
    struct bp_profile *profile = reader->profile;
    struct bp_profile_thread *thread = &profile->threads[profile->thread_count];
    struct chain chain = {address + offsetof(struct bp_thread, root),
                          address + offsetof(struct bp_thread, alias),
                          address + offsetof(struct bp_thread, curtain), limit};
    thread->info = *info;
    thread->slot = slot;
    thread->info.name[sizeof(thread->info.name) - 1] = 0;
    for (char *c = thread->info.name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    int result = load_thread(reader, thread, chain);
    profile->threads_recorded++;
    if (result == 1)
        profile->thread_count++;
    else
        drop_thread(thread);
    return result < 0 ? result : 0;
}

static int load_slots(struct bp_reader *reader, struct bp_reader_range range,
                      const struct bp_thread *infos, uint32_t count) {
    uint32_t limit = count_entries(reader) + 1;
    int result = 0;
    for (uint32_t slot = 0; result == 0 && slot < count; slot++)
        if (infos[slot].state != BP_THREAD_UNUSED)
            result =
                load_slot(reader, slot, &infos[slot], thread_address(reader, range, slot), limit);
    return result;
}

static void see(struct bp_profile *profile, uint64_t ticks) {
    if (ticks > profile->latest)
        profile->latest = ticks;
}

/* A free entry keeps the start of the last call that used it, so the entries together know when the
 * last call of a killed target began. */
static int find_latest(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    see(profile, profile->header.start);
    see(profile, profile->header.last.ticks);
    see(profile, profile->header.paused_since);
    if (profile->sampler)
        see(profile, profile->sampler->latest);
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct bp_profile_thread *thread = &profile->threads[i];
        see(profile, thread->info.start);
        see(profile, thread->info.end);
        for (uint32_t k = 0; k < thread->open_count; k++)
            if (thread->open[k].start != BP_ENTRY_UNTIMED)
                see(profile, thread->open[k].start + thread->open[k].child);
    }
    for (uint32_t i = 0; i < reader->chunk_count; i++) {
        struct bp_reader_chunk *chunk = &reader->chunks[i];
        if (chunk->head.kind != BP_ENTRIES)
            continue;
        int result = load_entries(reader, chunk);
        if (result)
            return result;
        for (uint32_t k = 0; k < chunk->present; k++) {
            struct bp_entry entry;
            memcpy(&entry, chunk->entries + (size_t)k * chunk->head.item_size, sizeof(entry));
            if (entry.start != BP_ENTRY_UNTIMED)
                see(profile, entry.start);
        }
    }
    return 0;
}

int bp_reader_load_threads(struct bp_reader *reader) {
    struct bp_reader_range range = bp_reader_find(reader, BP_THREADS, BP_NO_THREAD);
    void *infos;
    uint32_t count;
    int result = bp_reader_load(reader, range, sizeof(struct bp_thread), 0, &infos, &count);
    if (result)
        return result;
    reader->profile->threads = calloc((size_t)count + 1, sizeof(struct bp_profile_thread));
    result = reader->profile->threads ? load_slots(reader, range, infos, count) : -ENOMEM;
    free(infos);
    if (result == 0 && reader->profile->header.state == BP_RUNNING)
        result = find_latest(reader);
    return result;
}
