/* SPDX-License-Identifier: MIT
 *
 * Questions about graphs, and changes of those that exist: edges, what a node does, and the update
 * of an executable graph from one of the same shape.
 */
#include <stdlib.h>

#include "cuda/sim/internal.h"

/* CUDA's reasons why an update is refused. */
enum { UPDATED, TOPOLOGY_CHANGED = 2, TYPE_CHANGED };

/* Where a list of nodes goes: as many as there is room for, all are counted. */
struct list {
    struct bp_sim_node **items;
    size_t room, found;
};

static void put(struct list *list, struct bp_sim_node *node) {
    if (list->items && list->found < list->room)
        list->items[list->found] = node;
    list->found++;
}

static int finish(const struct list *list, size_t *count) {
    for (size_t i = list->found; list->items && i < list->room; i++)
        list->items[i] = NULL;
    if (!list->items || list->found < list->room)
        *count = list->found;
    return 0;
}

int bp_sim_graph_nodes(const struct bp_sim_graph *graph, struct bp_sim_node **nodes, size_t *count,
                       bool roots) {
    if (!graph || !count)
        return cudaErrorInvalidValue;
    struct list list = {nodes, *count, 0};
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (!roots || !graph->nodes.items[i]->after.count)
            put(&list, graph->nodes.items[i]);
    return finish(&list, count);
}

int bp_sim_graph_edges(const struct bp_sim_graph *graph, struct bp_sim_node **from,
                       struct bp_sim_node **to, size_t *count) {
    if (!graph || !count)
        return cudaErrorInvalidValue;
    struct list first = {from, *count, 0}, second = {to, *count, 0};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct bp_sim_node *node = graph->nodes.items[i];
        for (size_t k = 0; k < node->after.count; k++) {
            put(&first, node->after.items[k]);
            put(&second, node);
        }
    }
    finish(&second, count);
    return finish(&first, count);
}

static bool waits_for(const struct bp_sim_node *node, const struct bp_sim_node *other) {
    size_t i = 0;
    while (i < node->after.count && node->after.items[i] != other)
        i++;
    return i < node->after.count;
}

int bp_sim_node_neighbours(const struct bp_sim_node *node, struct bp_sim_node **nodes,
                           size_t *count, bool before) {
    if (!node || !count)
        return cudaErrorInvalidValue;
    struct list list = {nodes, *count, 0};
    const struct bp_sim_nodes *all = before ? &node->after : &node->graph->nodes;
    for (size_t i = 0; i < all->count; i++)
        if (before || waits_for(all->items[i], node))
            put(&list, all->items[i]);
    return finish(&list, count);
}

static void remove_edge(struct bp_sim_nodes *after, const struct bp_sim_node *from) {
    size_t kept = 0;
    for (size_t i = 0; i < after->count; i++)
        if (after->items[i] != from)
            after->items[kept++] = after->items[i];
    after->count = kept;
}

int bp_sim_graph_depend(struct bp_sim_graph *graph, struct bp_sim_node *const *from,
                        struct bp_sim_node *const *to, size_t count, bool on) {
    int error = graph ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++) {
        if (from[i]->graph != graph || to[i]->graph != graph)
            return cudaErrorInvalidValue;
        if (on)
            error = bp_sim_nodes_add(&to[i]->after, from[i]);
        else
            remove_edge(&to[i]->after, from[i]);
    }
    return error;
}

struct bp_sim_node *bp_sim_graph_find(const struct bp_sim_graph *graph,
                                      const struct bp_sim_node *node) {
    for (size_t i = 0; graph && node && i < graph->nodes.count; i++) {
        struct bp_sim_node *mine = graph->nodes.items[i];
        struct bp_sim_node *within = bp_sim_graph_find(mine->content.child, node);
        if (mine->origin == node->id || within)
            return within ? within : mine;
    }
    return NULL;
}

struct bp_sim_content *bp_sim_node_content(struct bp_sim_node *node) {
    return &node->content;
}

bool *bp_sim_node_disabled(struct bp_sim_node *node) {
    return &node->disabled;
}

static size_t position(const struct bp_sim_node *node) {
    size_t i = 0;
    while (node->graph->nodes.items[i] != node)
        i++;
    return i;
}

static int compare(const struct bp_sim_graph *a, const struct bp_sim_graph *b,
                   struct bp_sim_node **culprit);

/* Both graphs have the order of a copy, so that equal ones have equal places. */
static int compare_nodes(const struct bp_sim_node *a, struct bp_sim_node *b,
                         struct bp_sim_node **culprit) {
    *culprit = b;
    if (a->after.count != b->after.count)
        return TOPOLOGY_CHANGED;
    for (size_t i = 0; i < a->after.count; i++)
        if (position(a->after.items[i]) != position(b->after.items[i]))
            return TOPOLOGY_CHANGED;
    if (a->content.type != b->content.type)
        return TYPE_CHANGED;
    return a->content.child ? compare(a->content.child, b->content.child, culprit) : UPDATED;
}

static int compare(const struct bp_sim_graph *a, const struct bp_sim_graph *b,
                   struct bp_sim_node **culprit) {
    *culprit = NULL;
    if (a->nodes.count != b->nodes.count)
        return TOPOLOGY_CHANGED;
    int result = UPDATED;
    for (size_t i = 0; i < a->nodes.count && !result; i++)
        result = compare_nodes(a->nodes.items[i], b->nodes.items[i], culprit);
    return result;
}

/* Exchanges what the nodes do; places, ids and streams stay. */
static void exchange(struct bp_sim_graph *a, struct bp_sim_graph *b) {
    for (size_t i = 0; i < a->nodes.count; i++) {
        struct bp_sim_content *mine = &a->nodes.items[i]->content;
        struct bp_sim_content *other = &b->nodes.items[i]->content, old = *mine;
        if (old.child) {
            exchange(old.child, other->child);
            continue;
        }
        if (old.work) {
            other->work->graph = old.work->graph;
            other->work->node = old.work->node;
        }
        *mine = *other;
        *other = old;
    }
}

/* The node that a copy was made of; NULL for one within a child. */
static struct bp_sim_node *original(const struct bp_sim_graph *graph,
                                    const struct bp_sim_node *copy) {
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i]->copy == copy)
            return graph->nodes.items[i];
    return NULL;
}

int bp_sim_graph_update(struct bp_sim_graph *executable, const struct bp_sim_graph *graph,
                        int *result, struct bp_sim_node **culprit) {
    struct bp_sim_graph *copy;
    int error = executable && graph ? bp_sim_graph_copy(&copy, graph) : cudaErrorInvalidValue;
    if (error)
        return error;
    *result = compare(executable, copy, culprit);
    *culprit = *result && *culprit ? original(graph, *culprit) : NULL;
    if (!*result)
        exchange(executable, copy);
    bp_sim_graph_free(copy);
    return *result ? cudaErrorGraphExecUpdateFailure : 0;
}

int bp_sim_node_set_child(struct bp_sim_node *node, const struct bp_sim_graph *child) {
    struct bp_sim_node *culprit;
    int result = 0;
    if (!node || !node->content.child)
        return cudaErrorInvalidValue;
    int error = bp_sim_graph_update(node->content.child, child, &result, &culprit);
    return result ? cudaErrorInvalidValue : error;
}

const struct bp_sim_launch *bp_sim_content_launch(const struct bp_sim_content *of) {
    return of->type == BP_SIM_NODE_KERNEL ? &of->work->kernel.launch : NULL;
}

const struct bp_sim_copy *bp_sim_content_copy(const struct bp_sim_content *of) {
    return of->type == BP_SIM_NODE_COPY ? &of->work->copy : NULL;
}

const struct bp_sim_set *bp_sim_content_set(const struct bp_sim_content *of) {
    return of->type == BP_SIM_NODE_SET ? &of->work->set : NULL;
}

bool bp_sim_content_host(const struct bp_sim_content *of, void (**function)(void *), void **data) {
    if (of->type != BP_SIM_NODE_HOST)
        return false;
    *function = of->work->host.function;
    *data = of->work->host.data;
    return true;
}
