/* SPDX-License-Identifier: MIT
 *
 * Graphs: pieces of work and what each must wait for. They are captured from streams (capture.c) or
 * built node by node. Instantiating makes a copy in an order in which it can be submitted
 * (graph_launch.c); graph_edit.c asks about graphs and changes them.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

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

void bp_sim_content_free(struct bp_sim_content *content) {
    free(content->work);
    if (content->child)
        bp_sim_graph_free(content->child);
}

static void free_node(struct bp_sim_node *node) {
    bp_sim_nodes_clear(&node->after);
    bp_sim_content_free(&node->content);
    free(node);
}

struct bp_sim_content bp_sim_content_of(struct bp_sim_work *work) {
    static const enum bp_sim_node_type types[] = {BP_SIM_NODE_COPY, BP_SIM_NODE_SET,
                                                  BP_SIM_NODE_KERNEL, BP_SIM_NODE_HOST};
    return (struct bp_sim_content){.type = types[work->kind], .work = work};
}

int bp_sim_graph_add(struct bp_sim_graph *graph, const struct bp_sim_content *content,
                     const struct bp_sim_nodes *after, struct bp_sim_node **added) {
    static uint64_t last;
    struct bp_sim_content mine = *content;
    struct bp_sim_node *node = calloc(1, sizeof *node);
    if (!node) {
        bp_sim_content_free(&mine);
        return cudaErrorMemoryAllocation;
    }
    node->content = mine;
    node->graph = graph;
    node->id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    int error = bp_sim_nodes_join(&node->after, after);
    if (!error)
        error = append(&graph->nodes, node);
    if (error)
        free_node(node);
    else if (added)
        *added = node;
    return error;
}

int bp_sim_graph_add_node(struct bp_sim_graph *graph, const struct bp_sim_content *content,
                          const struct bp_sim_nodes *after, struct bp_sim_node **added) {
    struct bp_sim_content mine = *content;
    int error = graph ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; i < after->count && !error; i++)
        error = after->items[i]->graph == graph ? 0 : cudaErrorInvalidValue;
    if (!error && mine.type == BP_SIM_NODE_GRAPH)
        error = mine.child && mine.child != graph ? bp_sim_graph_copy(&mine.child, mine.child)
                                                  : cudaErrorInvalidValue;
    return error ? error : bp_sim_graph_add(graph, &mine, after, added);
}

/* Arguments lie within the work: pointers to them move with it. */
struct bp_sim_work *bp_sim_work_clone(const struct bp_sim_work *work) {
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

static int copy_content(struct bp_sim_content *to, const struct bp_sim_content *from) {
    *to = *from;
    if (from->work && !(to->work = bp_sim_work_clone(from->work)))
        return cudaErrorMemoryAllocation;
    to->child = NULL;
    return from->child ? bp_sim_graph_copy(&to->child, from->child) : 0;
}

/* A copy of a node whose dependencies have been copied. */
static int copy_node(struct bp_sim_graph *to, struct bp_sim_node *node) {
    struct bp_sim_content content;
    struct bp_sim_nodes after = {0};
    int error = copy_content(&content, &node->content);
    for (size_t i = 0; i < node->after.count && !error; i++)
        error = bp_sim_nodes_add(&after, node->after.items[i]->copy);
    if (error)
        bp_sim_content_free(&content);
    else
        error = bp_sim_graph_add(to, &content, &after, &node->copy);
    if (!error) {
        node->copy->origin = node->id;
        node->copy->disabled = node->disabled;
    }
    bp_sim_nodes_clear(&after);
    return error;
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
            int error = is_ready(node) ? copy_node(to, node) : 0;
            if (error)
                return error;
        }
    }
    return to->nodes.count == from->nodes.count ? 0 : cudaErrorInvalidValue;
}

int bp_sim_graph_copy(struct bp_sim_graph **result, const struct bp_sim_graph *graph) {
    struct bp_sim_graph *copy;
    int error = bp_sim_graph_new(&copy);
    if (error)
        return error;
    error = copy_nodes(copy, graph);
    if (error) {
        bp_sim_graph_free(copy);
        return error;
    }
    *result = copy;
    return 0;
}

int bp_sim_graph_clone(struct bp_sim_graph **copy, const struct bp_sim_graph *graph) {
    int error = graph ? bp_sim_graph_copy(copy, graph) : cudaErrorInvalidValue;
    if (!error)
        bp_sim_graph_number(*copy);
    return error;
}

int bp_sim_node_free(struct bp_sim_node *node) {
    struct bp_sim_nodes *nodes = &node->graph->nodes;
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        struct bp_sim_node *other = nodes->items[i];
        if (other == node)
            continue;
        bp_sim_graph_depend(node->graph, &node, &other, 1, false);
        nodes->items[kept++] = other;
    }
    nodes->count = kept;
    free_node(node);
    return 0;
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
