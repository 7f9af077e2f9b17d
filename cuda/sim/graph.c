/* SPDX-License-Identifier: MIT
 *
 * Graphs: pieces of work and what each must wait for. They are captured from streams (capture.c) or
 * built node by node. Instantiating puts a copy into an order in which it can be submitted, and
 * gives each branch a stream of its own; launching submits the work again, each piece after those
 * that it waits for, and the launching stream goes on when all of it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static bool have(const struct bp_sim_nodes *set, const struct bp_sim_node *node) {
    size_t i = 0;
    while (i < set->count && set->items[i] != node)
        i++;
    return i < set->count;
}

static int append(struct bp_sim_nodes *set, struct bp_sim_node *node) {
    struct bp_sim_node **items = realloc(set->items, (set->count + 1) * sizeof *items);
    if (!items)
        return cudaErrorMemoryAllocation;
    items[set->count++] = node;
    set->items = items;
    return 0;
}

int bp_sim_nodes_add(struct bp_sim_nodes *set, struct bp_sim_node *node) {
    return have(set, node) ? 0 : append(set, node);
}

int bp_sim_nodes_join(struct bp_sim_nodes *set, const struct bp_sim_nodes *more) {
    int error = 0;
    for (size_t i = 0; i < more->count && !error; i++)
        error = bp_sim_nodes_add(set, more->items[i]);
    return error;
}

void bp_sim_nodes_clear(struct bp_sim_nodes *set) {
    free(set->items);
    *set = (struct bp_sim_nodes){0};
}

int bp_sim_graph_new(struct bp_sim_graph **graph) {
    static uint32_t last;
    *graph = calloc(1, sizeof **graph);
    if (!*graph)
        return cudaErrorMemoryAllocation;
    (*graph)->id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return 0;
}

static void free_node(struct bp_sim_node *node) {
    bp_sim_nodes_clear(&node->after);
    free(node->work);
    free(node);
}

int bp_sim_graph_add(struct bp_sim_graph *graph, struct bp_sim_work *work,
                     const struct bp_sim_nodes *after, struct bp_sim_node **added) {
    struct bp_sim_node *node = calloc(1, sizeof *node);
    if (!node) {
        free(work);
        return cudaErrorMemoryAllocation;
    }
    node->work = work;
    node->graph = graph;
    int error = bp_sim_nodes_join(&node->after, after);
    if (!error)
        error = append(&graph->nodes, node);
    if (error)
        free_node(node);
    else if (added)
        *added = node;
    return error;
}

int bp_sim_graph_add_empty(struct bp_sim_graph *graph, const struct bp_sim_nodes *after,
                           struct bp_sim_node **added) {
    return graph ? bp_sim_graph_add(graph, NULL, after, added) : cudaErrorInvalidValue;
}

int bp_sim_graph_depend(struct bp_sim_graph *graph, struct bp_sim_node *const *from,
                        struct bp_sim_node *const *to, size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        if (from[i]->graph != graph || to[i]->graph != graph)
            return cudaErrorInvalidValue;
        error = bp_sim_nodes_add(&to[i]->after, from[i]);
    }
    return error;
}

/* Arguments lie within the work: pointers to them move with it. */
static struct bp_sim_work *clone(const struct bp_sim_work *work) {
    struct bp_sim_work *copy = malloc(work->size);
    if (!copy)
        return NULL;
    memcpy(copy, work, work->size);
    if (work->kind != BP_SIM_WORK_KERNEL || work->kernel.launch.args != work->pointers)
        return copy;
    copy->kernel.launch.args = copy->pointers;
    for (void **p = copy->pointers;
         *p && (char *)*p > (char *)work && (char *)*p < (char *)work + work->size; p++)
        *p = (char *)copy + ((char *)*p - (const char *)work);
    return copy;
}

/* A copy of a node whose dependencies have been copied; NULL without memory. */
static struct bp_sim_node *copy_node(struct bp_sim_graph *to, const struct bp_sim_node *node) {
    struct bp_sim_work *work = node->work ? clone(node->work) : NULL;
    struct bp_sim_nodes after = {0};
    struct bp_sim_node *copy = NULL;
    int error = node->work && !work ? cudaErrorMemoryAllocation : 0;
    for (size_t i = 0; i < node->after.count && !error; i++)
        error = bp_sim_nodes_add(&after, node->after.items[i]->copy);
    if (error)
        free(work);
    else
        bp_sim_graph_add(to, work, &after, &copy);
    bp_sim_nodes_clear(&after);
    return copy;
}

static bool is_ready(const struct bp_sim_node *node) {
    bool ready = !node->copy;
    for (size_t i = 0; i < node->after.count && ready; i++)
        ready = node->after.items[i]->copy;
    return ready;
}

/* Rounds over the nodes, in each those whose dependencies are there. A graph with a circle has none
 * in the end. */
static int copy_nodes(struct bp_sim_graph *to, const struct bp_sim_graph *from) {
    for (size_t i = 0; i < from->nodes.count; i++)
        from->nodes.items[i]->copy = NULL;
    for (size_t before = SIZE_MAX; before != to->nodes.count;) {
        before = to->nodes.count;
        for (size_t i = 0; i < from->nodes.count; i++) {
            struct bp_sim_node *node = from->nodes.items[i];
            if (is_ready(node) && !(node->copy = copy_node(to, node)))
                return cudaErrorMemoryAllocation;
        }
    }
    return to->nodes.count == from->nodes.count ? 0 : cudaErrorInvalidValue;
}

/* The first node that waits for another goes on in its stream, the first of all in the launching
 * one; the others have streams of their own. */
static void number(struct bp_sim_graph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct bp_sim_node *node = graph->nodes.items[i];
        struct bp_sim_node *before = node->after.count ? node->after.items[0] : NULL;
        if (before && !before->continued) {
            before->continued = true;
            node->stream = before->stream;
        } else if (i) {
            node->stream = bp_sim_stream_number();
        }
        if (node->work) {
            node->work->graph = graph->id;
            node->work->node = (uint64_t)graph->id << 32 | (i + 1);
        }
    }
}

int bp_sim_graph_clone(struct bp_sim_graph **result, const struct bp_sim_graph *graph) {
    struct bp_sim_graph *copy;
    int error = graph ? bp_sim_graph_new(&copy) : cudaErrorInvalidValue;
    if (error)
        return error;
    error = copy_nodes(copy, graph);
    if (error) {
        bp_sim_graph_free(copy);
        return error;
    }
    number(copy);
    *result = copy;
    return 0;
}

static int launch_node(struct bp_sim_node *node, const struct bp_sim_stream *launching) {
    static int (*const submit[])(struct bp_sim_work *, struct bp_sim_stream *) = {
        bp_sim_copy_submit, bp_sim_set_submit, bp_sim_kernel_submit, bp_sim_host_submit};
    struct bp_sim_stream branch = *launching;
    if (node->stream)
        branch.id = node->stream;
    for (size_t i = 0; i < node->after.count; i++)
        branch.end = later(branch.end, node->after.items[i]->end);
    struct bp_sim_work *work = node->work ? clone(node->work) : NULL;
    if (node->work && !work)
        return cudaErrorMemoryAllocation;
    int error = work ? submit[work->kind](work, &branch) : 0;
    node->end = branch.end;
    node->sequence = branch.sequence;
    return error;
}

int bp_sim_graph_launch(struct bp_sim_graph *graph, struct bp_sim_stream *handle) {
    struct bp_sim_stream launching;
    int error = graph ? bp_sim_ready() : cudaErrorInvalidValue;
    struct bp_sim_stream *stream = error ? NULL : bp_sim_stream_get(handle);
    if (!error && (!stream || stream->capture)) /* a graph within a graph is left out */
        error = stream ? cudaErrorNotSupported : cudaErrorInvalidResourceHandle;
    if (error)
        return error;
    bp_sim_stream_fork(stream, &launching);
    uint64_t end = 0, sequence = 0;
    for (size_t i = 0; i < graph->nodes.count && !error; i++) {
        struct bp_sim_node *node = graph->nodes.items[i];
        error = launch_node(node, &launching);
        end = later(end, node->end);
        sequence = later(sequence, node->sequence);
    }
    bp_sim_stream_join(stream, end, sequence);
    return error;
}

int bp_sim_graph_free(struct bp_sim_graph *graph) {
    if (!graph)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.items[i]);
    bp_sim_nodes_clear(&graph->nodes);
    free(graph);
    return 0;
}

int bp_sim_graph_nodes(const struct bp_sim_graph *graph, struct bp_sim_node **nodes,
                       size_t *count) {
    if (!graph || !count)
        return cudaErrorInvalidValue;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < graph->nodes.count ? graph->nodes.items[i] : NULL;
    if (!nodes || *count > graph->nodes.count)
        *count = graph->nodes.count;
    return 0;
}
