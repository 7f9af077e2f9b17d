/* SPDX-License-Identifier: MIT
 *
 * What a task did: the thread's nodes before and after. A walk touches eight bytes per node, and
 * the nodes themselves only where something was called; histograms are summed up only where a node
 * has changed since they were last. The nodes of an open call get their time when it ends: what is
 * open counts with what it has got so far.
 *
 * The snapshot of the outermost level is in the file, so that a reader can tell what a task was
 * doing that never ended.
 */
#include "interpose/ledger/task.h"

#include "interpose/ledger/light.h"

static struct bp_local *local_of(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

static struct bp_task_state *state_of(const struct bp_thread *thread) {
    return local_of(thread)->tasks;
}

/* The thread's chunks of nodes, oldest first. Their number. */
static uint32_t list_chunks(const struct bp_thread *thread, struct bp_chunk **chunks) {
    uint32_t count = 0;
    for (struct bp_chunk *c = local_of(thread)->nodes; c; c = (struct bp_chunk *)c->links[1])
        count++;
    if (count > BP_TASK_BLOCKS)
        return 0;
    uint32_t place = count;
    for (struct bp_chunk *c = local_of(thread)->nodes; c; c = (struct bp_chunk *)c->links[1])
        chunks[--place] = c;
    return count;
}

static struct bp_task_node *new_base(const struct bp_thread *thread, int level,
                                     const struct bp_chunk *nodes) {
    if (level > 0)
        return bp_pages_new(nodes->capacity * sizeof(struct bp_task_node));
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = bp_writer_chunk(&bp_process.writer, BP_TASK_NODES, thread->index,
                                             nodes->first, nodes->capacity);
    bp_unlock(&bp_process.lock, mask);
    if (!chunk)
        return NULL;
    chunk->capacity = chunk->count = nodes->capacity; /* indices as those of the nodes */
    return bp_chunk_items(chunk);
}

static int make_blocks(struct bp_thread *thread, int level, struct bp_chunk **chunks,
                       uint32_t count) {
    struct bp_task_state *state = state_of(thread);
    if (!state->memory)
        state->memory = bp_pages_new(sizeof *state->memory);
    if (!state->memory || !count ||
        chunks[count - 1]->first + chunks[count - 1]->capacity > BP_TASK_MOST_NODES)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!state->base[level][i])
            state->base[level][i] = new_base(thread, level, chunks[i]);
        if (!state->base[level][i])
            return 0;
    }
    return 1;
}

/* Calls that returned are in the buckets from the shortest's to the longest's, which spares most of
 * the cache lines; unless another thread has counted some. */
static uint64_t sum_histogram(const struct bp_node *node) {
    unsigned low = 1, high = BP_BUCKETS - 1;
    uint64_t calls = 0;
    if (node->min == UINT64_MAX && !bp_process.calls_moved)
        return 0;
    if (!bp_process.calls_moved) {
        low = bp_bucket(node->min);
        high = bp_bucket(node->min + node->span);
    }
    for (unsigned b = low; b <= high; b++)
        calls += node->histogram[b];
    return calls;
}

/* Count the calls that ended, if there were any. Every call adds to one of the summed counters; one
 * of no duration at all to the bucket of the shortest. */
static int count_calls(const struct bp_node *node, struct bp_task_seen *seen) {
    uint64_t sum = node->self + node->total + node->inner + node->aborted +
                   node->histogram[bp_bucket(0)] + node->untimed;
    if (sum == seen->sum)
        return 0;
    seen->sum = sum;
    seen->calls = node->aborted + node->untimed + (node->last != 0) + sum_histogram(node);
    return 1;
}

/* A new look begins: what is open may have changed. Calls beyond the limit of contexts have a
 * parent that is never open. */
static uint32_t begin_look(const struct bp_thread *thread) {
    struct bp_task_state *state = state_of(thread);
    struct bp_task_look *looks = state->memory->looks;
    const struct bp_entry *entry = bp_thread_innermost(thread);
    const struct bp_node *folded = local_of(thread)->folded;
    uint32_t now = ++state->look;
    for (;; entry = (const struct bp_entry *)entry->parent) {
        looks[((const struct bp_node *)entry->node)->index].when = now;
        if (entry == &thread->root)
            break;
    }
    if (folded)
        looks[folded->index].when = now;
    return now;
}

/* Whether the node has changed since the level's beginning. Nothing below a node changes without it
 * being open: only where the parent was found changed or open by this look the node is looked at
 * itself, the others cost no cache line of theirs. */
static inline int has_changed(struct bp_task_state *state, uint32_t index,
                              const struct bp_node *node, uint32_t now, uint32_t based) {
    struct bp_task_look *looks = state->memory->looks, *look = &looks[index];
    if (index >= state->known) {
        look->parent = node->parent;
        state->known = index + 1;
    }
    if ((look->parent == BP_NO_NODE || looks[look->parent].when == now) &&
        count_calls(node, &state->memory->seen[index]))
        look->when = now;
    return look->when > based;
}

/* The place of a node in a level. */
static struct bp_task_node *base_of(const struct bp_task_state *state, int level, uint32_t index,
                                    struct bp_chunk **chunks, uint32_t count) {
    while (count-- > 0)
        if (index >= chunks[count]->first)
            return &state->base[level][count][index - chunks[count]->first];
    return NULL;
}

/* Calls from the innermost to `last` have `sign` times more self time than their nodes say. */
static void add_open(const struct bp_thread *thread, int level, uint64_t now, int sign,
                     const struct bp_entry *last, struct bp_chunk **chunks, uint32_t count) {
    const struct bp_entry *entry = bp_thread_innermost(thread);
    for (uint64_t end = now;; entry = (const struct bp_entry *)entry->parent) {
        const struct bp_node *node = (const struct bp_node *)entry->node;
        struct bp_task_node *base = base_of(state_of(thread), level, node->index, chunks, count);
        uint64_t start = bp_light_start(entry, end);
        uint64_t whole = end > start ? end - start : 0;
        uint64_t own = whole > entry->child ? whole - entry->child : 0;
        if (base)
            base->self += sign > 0 ? own : -own;
        end = start;
        if (entry == last || entry == &thread->root)
            return;
    }
}

int bp_task_snapshot(struct bp_thread *thread, int level, uint64_t now, int range) {
    struct bp_chunk *chunks[BP_TASK_BLOCKS];
    struct bp_task_state *state = state_of(thread);
    uint32_t count = list_chunks(thread, chunks);
    if (!make_blocks(thread, level, chunks, count))
        return 0;
    uint32_t look = begin_look(thread);
    for (uint32_t c = 0; c < count; c++) {
        const struct bp_node *nodes = bp_chunk_items(chunks[c]);
        for (uint32_t i = 0; i < chunks[c]->count; i++) {
            uint32_t index = chunks[c]->first + i;
            if (has_changed(state, index, &nodes[i], look, state->based[level]))
                state->base[level][c][i] =
                    (struct bp_task_node){index, (uint32_t)state->memory->seen[index].calls,
                                          nodes[i].self, (uint32_t)nodes[i].untimed, 0};
        }
    }
    state->based[level] = look;
    if (range)
        add_open(thread, level, now, 1, NULL, chunks, count);
    return 1;
}

static void add_up(struct bp_task_sums *sums, uint32_t func, const struct bp_task_node *grown) {
    uint8_t what = bp_task_funcs[func];
    sums->wait += (what & BP_TASK_FUNC_KIND) == BP_FUNC_WAIT ? grown->self : 0;
    sums->io += (what & BP_TASK_FUNC_KIND) == BP_FUNC_IO ? grown->self : 0;
    sums->samples += what & BP_TASK_FUNC_SAMPLE ? grown->calls : 0;
}

/* What a changed node grew by; the level is at what it is now. */
static void grow(struct bp_task_memory *memory, struct bp_task_sums *sums,
                 const struct bp_node *node, struct bp_task_node *base) {
    uint32_t calls = (uint32_t)memory->seen[node->index].calls;
    uint32_t untimed = (uint32_t)node->untimed;
    struct bp_task_node grown = {node->index, calls - base->calls, node->self - base->self,
                                 untimed - base->untimed, 0};
    *base = (struct bp_task_node){node->index, calls, node->self, untimed, 0};
    if (!grown.self && !grown.calls)
        return;
    memory->grown[sums->count++] = grown;
    add_up(sums, node->func, &grown);
}

struct bp_task_sums bp_task_difference(struct bp_thread *thread, int level, uint64_t now,
                                       const struct bp_entry *entry, int ended) {
    struct bp_chunk *chunks[BP_TASK_BLOCKS];
    struct bp_task_sums sums = {0, 0, 0, 0};
    struct bp_task_state *state = state_of(thread);
    uint32_t count = list_chunks(thread, chunks);
    if (!make_blocks(thread, level, chunks, count))
        return sums;
    uint32_t look = begin_look(thread);
    add_open(thread, level, now, -1, entry, chunks, count);
    if (entry && ended) /* it is about to be counted */
        base_of(state, level, ((const struct bp_node *)entry->node)->index, chunks, count)->calls--;
    for (uint32_t c = 0; c < count; c++) {
        const struct bp_node *nodes = bp_chunk_items(chunks[c]);
        for (uint32_t i = 0; i < chunks[c]->count; i++)
            if (has_changed(state, chunks[c]->first + i, &nodes[i], look, state->based[level]))
                grow(state->memory, &sums, &nodes[i], &state->base[level][c][i]);
    }
    state->based[level] = look;
    return sums;
}

uint32_t bp_task_write_nodes(const struct bp_thread *thread, uint32_t count) {
    const struct bp_task_memory *memory = state_of(thread)->memory;
    uint32_t first = 0, index;
    for (uint32_t i = 0; i < count; i++) {
        struct bp_task_node *place = bp_writer_item(&bp_process.writer, BP_TASK_NODES, &index);
        if (!place || index >= BP_TASK_NODES_KEPT)
            return BP_NO_TASK;
        *place = memory->grown[i];
        bp_writer_commit(&bp_process.writer, BP_TASK_NODES);
        first = i ? first : index;
    }
    return first;
}

void bp_task_forget(struct bp_task_state *state) {
    state->memory = NULL;
    state->look = state->known = 0;
    for (unsigned level = 0; level < BP_TASK_LEVELS; level++) {
        state->based[level] = 0;
        for (unsigned i = 0; i < BP_TASK_BLOCKS; i++)
            state->base[level][i] = NULL;
    }
}
