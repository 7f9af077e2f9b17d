/* SPDX-License-Identifier: MIT
 *
 * Calling contexts of a thread. A node is made once per (parent, function), the first time such a
 * call is seen; after that the stub finds it by itself. Edges live in private memory, nodes in the
 * file. Tables change only with all signals blocked, so a handler always finds them whole.
 */
#include "interpose/ledger/thread.h"

#include "interpose/base/hash.h"
#include "profile/stop.h"

/* Contexts kept apart per thread: 13 MB of file. Beyond it calls are folded by function. */
#define NODE_LIMIT 16384
#define FIRST_NODES 4      /* one page; each later chunk is twice as large */
#define LARGEST_NODES 1110 /* 1 MB */
#define SPARE_EDGES 32     /* one page */

static uint32_t map_slot(uint64_t parent, uint64_t stub, uint32_t size) {
    uint64_t hash = bp_mix(parent, stub << 20);
    return (uint32_t)(hash >> 32) & (size - 1);
}

/* The place that has the edge, or the free one where it belongs. */
static struct bp_edge **map_find(struct bp_edge **map, uint32_t size, uint64_t parent,
                                 uint64_t stub) {
    uint32_t slot = map_slot(parent, stub, size);
    while (map[slot] && (map[slot]->parent != parent || map[slot]->stub != stub))
        slot = (slot + 1) & (size - 1);
    return &map[slot];
}

/* The map before this one stays: its edges may be looked for by what a handler interrupted. All of
 * them together are as large as the last one. */
static int map_grow(struct bp_local *local) {
    uint32_t size = local->map_size ? 2 * local->map_size : 256;
    struct bp_edge **map = bp_pages_new(size * sizeof *map);
    if (!map)
        return 0;
    for (uint32_t i = 0; i < local->map_size; i++)
        if (local->map[i])
            *map_find(map, size, local->map[i]->parent, local->map[i]->stub) = local->map[i];
    local->map_size = 0; /* a map is never taken for one of another's size */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->map = map;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->map_size = size;
    return 1;
}

static struct bp_edge *new_edge(struct bp_local *local) {
    if (!local->spare_count) {
        local->spare = bp_pages_new(SPARE_EDGES * sizeof *local->spare);
        local->spare_count = local->spare ? SPARE_EDGES : 0;
    }
    local->spare_count -= local->spare != NULL;
    return local->spare ? local->spare++ : NULL;
}

static struct bp_chunk *node_chunk(struct bp_thread *thread, struct bp_local *local) {
    struct bp_chunk *chunk = local->nodes;
    if (chunk && chunk->count < chunk->capacity)
        return chunk;
    uint32_t first = chunk ? chunk->first + chunk->capacity : 0;
    uint32_t items = chunk ? 2 * chunk->capacity : FIRST_NODES;
    if (items > LARGEST_NODES)
        items = LARGEST_NODES;
    uint64_t mask = bp_lock(&bp_process.lock);
    chunk = bp_writer_chunk(&bp_process.writer, BP_NODES, thread->index, first, items);
    bp_unlock(&bp_process.lock, mask);
    BP_STOP(NODE_CHUNK);
    if (chunk) {
        chunk->links[1] = (uint64_t)local->nodes;
        local->nodes = chunk;
    }
    return chunk;
}

struct bp_node *bp_node_new(struct bp_thread *thread, uint32_t parent, uint32_t func) {
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_chunk *chunk = node_chunk(thread, local);
    if (!chunk)
        return NULL;
    struct bp_node *node = (struct bp_node *)bp_chunk_items(chunk) + chunk->count;
    BP_STOP_UNLESS_ZERO(node, sizeof *node);
    node->parent = parent;
    node->func = func;
    node->index = chunk->first + chunk->count;
    node->min = UINT64_MAX;
    BP_STOP(NODE_FILLED);
    __atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
    return node;
}

static struct bp_node *node_at(const struct bp_thread *thread, uint32_t index) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    struct bp_chunk *chunk = local->nodes;
    while (index < chunk->first)
        chunk = (struct bp_chunk *)chunk->links[1];
    return (struct bp_node *)bp_chunk_items(chunk) + (index - chunk->first);
}

/* The function is open already: the node of that call, which takes the inner one too. */
static struct bp_node *open_node(const struct bp_thread *thread, struct bp_node *node,
                                 uint32_t func) {
    while (node->func != func) {
        if (node->parent == BP_NO_NODE)
            return NULL;
        node = node_at(thread, node->parent);
    }
    return node;
}

/* Past the limit a context is known by its function alone, under one node for all of them. */
static struct bp_node *fold(struct bp_thread *thread, struct bp_local *local,
                            struct bp_node *from) {
    if (!local->folded)
        local->folded = bp_node_new(thread, 0, BP_FUNC_INDEX_FOLDED);
    __atomic_fetch_add(&bp_process.writer.header->node_limit_hits, 1, __ATOMIC_RELAXED);
    return local->folded ? local->folded : from;
}

static struct bp_node *node_make(struct bp_thread *thread, struct bp_local *local,
                                 struct bp_node *parent, struct bp_stub *stub) {
    struct bp_node *node = open_node(thread, parent, stub->func);
    if (node)
        return node;
    if (local->nodes->first + local->nodes->count >= NODE_LIMIT && parent != local->folded) {
        struct bp_node *folded = fold(thread, local, parent);
        if (folded != parent)
            return bp_node_get(thread, (uint64_t)folded, stub);
    }
    return bp_node_new(thread, parent->index, stub->func);
}

static struct bp_edge *make_edge(struct bp_thread *thread, struct bp_local *local, uint64_t parent,
                                 struct bp_stub *stub) {
    struct bp_node *node = node_make(thread, local, (struct bp_node *)parent, stub);
    if (!node || (local->map_used >= local->map_size / 2 && !map_grow(local)))
        return NULL;
    struct bp_edge *edge = new_edge(local);
    if (!edge)
        return NULL;
    *edge = (struct bp_edge){.parent = parent,
                             .stub = (uint64_t)stub,
                             .node = (uint64_t)node,
                             .open = (uint64_t)&local->open[node->func],
                             .thread = (uint64_t)thread,
                             .target = stub->target,
                             .left = BP_EDGE_TIMED};
    edge->next = (uint64_t)edge;
    ((struct bp_node *)parent)->edges++;
    *map_find(local->map, local->map_size, parent, (uint64_t)stub) = edge;
    local->map_used++;
    return edge;
}

/* Read without blocking signals: a handler adds edges and may put another map in the place of this
 * one, which stays. */
static struct bp_edge *known_edge(const struct bp_local *local, uint64_t parent, uint64_t stub) {
    uint32_t size = __atomic_load_n(&local->map_size, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct bp_edge **map = __atomic_load_n(&local->map, __ATOMIC_RELAXED);
    return size && map ? *map_find(map, size, parent, stub) : NULL;
}

struct bp_edge *bp_edge_get(struct bp_thread *thread, uint64_t parent, struct bp_stub *stub) {
    struct bp_local *local = (struct bp_local *)thread->local;
    struct bp_edge **place = &local->edges[bp_edge_place(parent, (uint64_t)stub)];
    struct bp_edge *edge = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (edge && edge->parent == parent && edge->stub == (uint64_t)stub)
        return edge;
    edge = known_edge(local, parent, (uint64_t)stub);
    if (!edge) {
        uint64_t mask = bp_signals_block();
        edge = known_edge(local, parent, (uint64_t)stub);
        if (!edge)
            edge = make_edge(thread, local, parent, stub);
        bp_signals_restore(mask);
    }
    if (edge)
        __atomic_store_n(place, edge, __ATOMIC_RELAXED);
    return edge;
}

void bp_edge_remember(struct bp_thread *thread, struct bp_edge *edge) {
    struct bp_local *local = (struct bp_local *)thread->local;
    const struct bp_stub *stub = (const struct bp_stub *)edge->stub;
    if (stub < bp_stubs || stub >= bp_stubs + BP_STUBS)
        return; /* a guest's */
    struct bp_edge **last = &local->last[stub - bp_stubs];
    if (*last && *last != edge)
        __atomic_store_n(&edge->next, (uint64_t)*last, __ATOMIC_RELAXED);
    __atomic_store_n(last, edge, __ATOMIC_RELAXED);
}

struct bp_node *bp_node_get(struct bp_thread *thread, uint64_t parent, struct bp_stub *stub) {
    const struct bp_edge *edge = bp_edge_get(thread, parent, stub);
    return edge ? (struct bp_node *)edge->node : NULL;
}
