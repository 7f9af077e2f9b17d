/* SPDX-License-Identifier: MIT
 *
 * Launching a graph submits its work again, each piece after those that it waits for; a child graph
 * in the place of its node. The launching stream goes on when all of it is over.
 */
#include <stdlib.h>

#include "cuda/sim/internal.h"

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The first node that waits for another goes on in its stream, the first of all in the launching
 * one; the others have streams of their own. All are nodes of the graph that is launched, and no
 * two have one number, whichever child they are in. */
static void number(struct bp_sim_graph *graph, uint32_t id, uint32_t stream, uint64_t *count) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct bp_sim_node *node = graph->nodes.items[i];
        struct bp_sim_node *before = node->after.count ? node->after.items[0] : NULL;
        node->stream = stream;
        if (before && !before->continued) {
            before->continued = true;
            node->stream = before->stream;
        } else if (i) {
            node->stream = bp_sim_stream_number();
        }
        ++*count;
        if (node->content.work) {
            node->content.work->graph = id;
            node->content.work->node = (uint64_t)id << 32 | *count;
        }
        if (node->content.child)
            number(node->content.child, id, node->stream, count);
    }
}

void bp_sim_graph_number(struct bp_sim_graph *graph) {
    uint64_t count = 0;
    number(graph, graph->id, 0, &count);
}

static int launch_nodes(const struct bp_sim_graph *graph, struct bp_sim_stream *stream);

static int submit(const struct bp_sim_content *content, struct bp_sim_stream *branch) {
    static int (*const submits[])(struct bp_sim_work *, struct bp_sim_stream *) = {
        bp_sim_copy_submit, bp_sim_set_submit, bp_sim_kernel_submit, bp_sim_host_submit};
    if (content->child)
        return launch_nodes(content->child, branch);
    if (content->type == BP_SIM_NODE_RECORD)
        bp_sim_event_mark(content->event, branch);
    if (content->type == BP_SIM_NODE_WAIT)
        bp_sim_event_await(content->event, branch);
    if (!content->work)
        return 0;
    struct bp_sim_work *work = bp_sim_work_clone(content->work);
    return work ? submits[work->kind](work, branch) : cudaErrorMemoryAllocation;
}

static int launch_node(struct bp_sim_node *node, const struct bp_sim_stream *launching) {
    struct bp_sim_stream branch = *launching;
    if (node->stream)
        branch.id = node->stream;
    for (size_t i = 0; i < node->after.count; i++) {
        branch.end = later(branch.end, node->after.items[i]->end);
        branch.sequence = later(branch.sequence, node->after.items[i]->sequence);
    }
    int error = node->disabled ? 0 : submit(&node->content, &branch);
    node->end = branch.end;
    node->sequence = branch.sequence;
    return error;
}

/* The stream is a branch, whose end and last submission become the graph's. */
static int launch_nodes(const struct bp_sim_graph *graph, struct bp_sim_stream *stream) {
    const struct bp_sim_stream launching = *stream;
    int error = 0;
    for (size_t i = 0; i < graph->nodes.count && !error; i++) {
        struct bp_sim_node *node = graph->nodes.items[i];
        error = launch_node(node, &launching);
        stream->end = later(stream->end, node->end);
        stream->sequence = later(stream->sequence, node->sequence);
    }
    return error;
}

/* Within a capture it is one node more. */
static bool is_captured(struct bp_sim_graph *graph, struct bp_sim_stream *handle, int *error) {
    struct bp_sim_content content = {.type = BP_SIM_NODE_GRAPH};
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !stream->capture)
        return false;
    *error = bp_sim_graph_copy(&content.child, graph);
    return *error || bp_sim_captured_as(handle, &content, error);
}

int bp_sim_graph_launch(struct bp_sim_graph *graph, struct bp_sim_stream *handle) {
    struct bp_sim_stream branch;
    int error = graph ? bp_sim_ready() : cudaErrorInvalidValue;
    if (error || is_captured(graph, handle, &error))
        return error;
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    bp_sim_stream_fork(stream, &branch);
    error = launch_nodes(graph, &branch);
    bp_sim_stream_join(stream, branch.end, branch.sequence);
    return error;
}
