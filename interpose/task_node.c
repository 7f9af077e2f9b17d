/* SPDX-License-Identifier: MIT
 *
 * What a task did: the thread's nodes before and after. A walk touches one or two cache lines per
 * node; histograms are summed up only where a node has changed since they were last. The nodes of
 * an open call get their time when it ends: what is open counts with what it has got so far.
 *
 * The snapshot of the outermost level is in the file, so that a reader can tell what a task was
 * doing that never ended.
 */
#include "interpose/task.h"

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
    for (uint32_t i = 0; i < count; i++) {
        if (!state->seen[i])
            state->seen[i] = bp_pages_new(chunks[i]->capacity * sizeof(struct bp_task_seen));
        if (!state->base[level][i])
            state->base[level][i] = new_base(thread, level, chunks[i]);
        if (!state->seen[i] || !state->base[level][i])
            return 0;
    }
    return count > 0;
}

/* Calls that ended. Every call adds to one of the summed counters; one of no duration at all to the
 * bucket of the shortest. */
static uint64_t calls_of(const struct bp_node *node, struct bp_task_seen *seen) {
    uint64_t sum =
        node->self + node->total + node->inner + node->aborted + node->histogram[bp_bucket(0)];
    if (sum == seen->sum)
        return seen->calls;
    uint64_t calls = node->aborted + (node->last != 0);
    for (unsigned b = 1; b < BP_BUCKETS; b++)
        calls += node->histogram[b];
    seen->sum = sum;
    seen->calls = calls;
    return calls;
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
    const struct bp_entry *entry = (const struct bp_entry *)thread->current;
    for (uint64_t end = now;; entry = (const struct bp_entry *)entry->parent) {
        const struct bp_node *node = (const struct bp_node *)entry->node;
        struct bp_task_node *base = base_of(state_of(thread), level, node->index, chunks, count);
        uint64_t whole = end > entry->start ? end - entry->start : 0;
        uint64_t own = whole > entry->child ? whole - entry->child : 0;
        if (base)
            base->self += sign > 0 ? own : -own;
        end = entry->start;
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
    for (uint32_t c = 0; c < count; c++) {
        const struct bp_node *nodes = bp_chunk_items(chunks[c]);
        for (uint32_t i = 0; i < chunks[c]->count; i++)
            state->base[level][c][i] = (struct bp_task_node){
                chunks[c]->first + i, (uint32_t)calls_of(&nodes[i], &state->seen[c][i]),
                nodes[i].self};
    }
    if (range)
        add_open(thread, level, now, 1, NULL, chunks, count);
    return 1;
}

static void add_up(struct bp_task_sums *sums, uint32_t func, const struct bp_task_node *grown) {
    uint8_t what = bp_task_funcs[func];
    if (!grown->self && !grown->calls)
        return;
    sums->count++;
    sums->wait += (what & BP_TASK_FUNC_KIND) == BP_FUNC_WAIT ? grown->self : 0;
    sums->io += (what & BP_TASK_FUNC_KIND) == BP_FUNC_IO ? grown->self : 0;
    sums->samples += what & BP_TASK_FUNC_SAMPLE ? grown->calls : 0;
}

struct bp_task_sums bp_task_difference(struct bp_thread *thread, int level, uint64_t now,
                                       const struct bp_entry *entry, int ended) {
    struct bp_chunk *chunks[BP_TASK_BLOCKS];
    struct bp_task_sums sums = {0, 0, 0, 0};
    struct bp_task_state *state = state_of(thread);
    uint32_t count = list_chunks(thread, chunks);
    if (!make_blocks(thread, level, chunks, count))
        return sums;
    add_open(thread, level, now, -1, entry, chunks, count);
    if (entry && ended) /* it is about to be counted */
        base_of(state, level, ((const struct bp_node *)entry->node)->index, chunks, count)->calls--;
    for (uint32_t c = 0; c < count; c++) {
        const struct bp_node *nodes = bp_chunk_items(chunks[c]);
        struct bp_task_node *base = state->base[level][c];
        for (uint32_t i = 0; i < chunks[c]->count; i++) {
            uint32_t calls = (uint32_t)calls_of(&nodes[i], &state->seen[c][i]);
            base[i] = (struct bp_task_node){chunks[c]->first + i, calls - base[i].calls,
                                            nodes[i].self - base[i].self};
            add_up(&sums, nodes[i].func, &base[i]);
        }
    }
    return sums;
}

uint32_t bp_task_write_nodes(struct bp_thread *thread, int level, uint32_t wanted) {
    struct bp_chunk *chunks[BP_TASK_BLOCKS];
    const struct bp_task_state *state = state_of(thread);
    uint32_t first = 0, written = 0, index, count = list_chunks(thread, chunks);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < chunks[c]->count && written < wanted; i++) {
            const struct bp_task_node *grown = &state->base[level][c][i];
            if (!grown->self && !grown->calls)
                continue;
            struct bp_task_node *place = bp_writer_item(&bp_process.writer, BP_TASK_NODES, &index);
            if (!place || index >= BP_TASK_NODES_KEPT)
                return BP_NO_TASK;
            *place = *grown;
            bp_writer_commit(&bp_process.writer, BP_TASK_NODES);
            first = written++ ? first : index;
        }
    return first;
}
