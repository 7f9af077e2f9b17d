/* SPDX-License-Identifier: MIT
 *
 * Work that is written into a graph instead of being done: what is submitted to a capturing stream,
 * and what a program adds node by node. A captured event leads other streams into the capture
 * (fork) and back (join). The rules and errors are those of the CUDA documentation, "cross-stream
 * dependencies and events".
 */
#include <stdlib.h>

#include "cuda/sim/internal.h"

struct bp_sim_capture {
    struct bp_sim_capture *next;
    struct bp_sim_graph *graph;
    struct bp_sim_stream *origin;
    struct bp_sim_stream *streams; /* all that take part */
    uint64_t id;
    bool lent;    /* the graph is the program's */
    bool invalid; /* something was done that cannot be captured: there will be no graph */
};

static struct {
    struct bp_sim_capture *first;
    uint64_t last_id;
} state;

/* A node that the thread is adding to a graph, or that gets something else to do. */
static __thread struct {
    struct bp_sim_graph *graph;
    const struct bp_sim_nodes *after;
    struct bp_sim_node *added, *again;
} recording;

int bp_sim_record_begin(struct bp_sim_graph *graph, const struct bp_sim_nodes *after) {
    for (size_t i = 0; graph && i < after->count; i++)
        if (after->items[i]->graph != graph)
            return cudaErrorInvalidValue;
    recording.graph = graph;
    recording.after = after;
    recording.added = recording.again = NULL;
    return graph ? 0 : cudaErrorInvalidValue;
}

int bp_sim_record_again(struct bp_sim_node *node) {
    recording.graph = node ? node->graph : NULL;
    recording.added = NULL;
    recording.again = node;
    return node ? 0 : cudaErrorInvalidValue;
}

int bp_sim_record_end(struct bp_sim_node **added, int error) {
    recording.graph = NULL;
    if (!error && !recording.added)
        error = cudaErrorInvalidValue; /* nothing to do is no node */
    if (!error && added)
        *added = recording.added;
    return error;
}

/* In the place of what the node did. */
static int replace(struct bp_sim_node *node, struct bp_sim_work *work) {
    struct bp_sim_content *content = &node->content;
    if (!content->work || content->work->kind != work->kind) {
        free(work);
        return cudaErrorInvalidValue;
    }
    work->graph = content->work->graph;
    work->node = content->work->node;
    free(content->work);
    content->work = work;
    recording.added = node;
    return 0;
}

static int record(struct bp_sim_work *work) {
    const struct bp_sim_content content = bp_sim_content_of(work);
    if (recording.again)
        return replace(recording.again, work);
    return bp_sim_graph_add(recording.graph, &content, recording.after, &recording.added);
}

static void enter(struct bp_sim_stream *stream, struct bp_sim_capture *capture) {
    stream->capture = capture;
    stream->next_captured = capture->streams;
    capture->streams = stream;
}

static int spoil(struct bp_sim_capture *capture, int error) {
    if (capture && error)
        capture->invalid = true;
    return error;
}

int bp_sim_capture_refuse(struct bp_sim_stream *stream) {
    bp_sim_lock(&bp_sim_model.lock);
    bool invalid = stream->capture && stream->capture->invalid;
    int error = !stream->capture ? 0
                : invalid        ? cudaErrorStreamCaptureInvalidated
                                 : cudaErrorStreamCaptureUnsupported;
    spoil(stream->capture, error);
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

/* The next node of a stream waits for the last one. */
static int append(struct bp_sim_stream *stream, const struct bp_sim_content *content) {
    struct bp_sim_node *node;
    if (stream->capture->invalid) {
        struct bp_sim_content unused = *content;
        bp_sim_content_free(&unused);
        return cudaErrorStreamCaptureInvalidated;
    }
    int error = bp_sim_graph_add(stream->capture->graph, content, &stream->tail, &node);
    if (error)
        return error;
    bp_sim_nodes_clear(&stream->tail);
    return bp_sim_nodes_add(&stream->tail, node);
}

bool bp_sim_captured_as(struct bp_sim_stream *handle, const struct bp_sim_content *content,
                        int *error) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    *error = 0;
    if (!stream || !stream->capture)
        return false;
    bp_sim_lock(&bp_sim_model.lock);
    *error = append(stream, content);
    bp_sim_unlock(&bp_sim_model.lock);
    return true;
}

bool bp_sim_captured(struct bp_sim_stream *handle, struct bp_sim_work *work, int *error) {
    const struct bp_sim_content content = bp_sim_content_of(work);
    if (!recording.graph)
        return bp_sim_captured_as(handle, &content, error);
    *error = record(work);
    return true;
}

static int begin(struct bp_sim_stream *stream, struct bp_sim_graph *graph, bool lent,
                 const struct bp_sim_nodes *after) {
    struct bp_sim_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return cudaErrorMemoryAllocation;
    bp_sim_lock(&bp_sim_model.lock);
    *capture =
        (struct bp_sim_capture){state.first, graph, stream, NULL, ++state.last_id, lent, false};
    state.first = capture;
    enter(stream, capture);
    int error = bp_sim_nodes_join(&stream->tail, after);
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

/* The legacy stream cannot be captured. */
static int check_begin(struct bp_sim_stream *handle, struct bp_sim_stream **stream) {
    int error = bp_sim_ready();
    *stream = error ? NULL : bp_sim_stream_get(handle);
    if (!*stream)
        return error ? error : cudaErrorInvalidResourceHandle;
    return !(*stream)->magic || (*stream)->capture ? cudaErrorStreamCaptureUnsupported : 0;
}

int bp_sim_capture_begin(struct bp_sim_stream *handle) {
    struct bp_sim_stream *stream;
    struct bp_sim_graph *graph = NULL;
    int error = check_begin(handle, &stream);
    if (!error)
        error = bp_sim_graph_new(&graph);
    if (!error)
        error = begin(stream, graph, false, &(struct bp_sim_nodes){0});
    if (error && graph)
        bp_sim_graph_free(graph);
    return error;
}

int bp_sim_capture_into(struct bp_sim_stream *handle, struct bp_sim_graph *graph,
                        const struct bp_sim_nodes *after) {
    struct bp_sim_stream *stream;
    int error = graph ? check_begin(handle, &stream) : cudaErrorInvalidValue;
    for (size_t i = 0; i < after->count && !error; i++)
        error = after->items[i]->graph == graph ? 0 : cudaErrorInvalidValue;
    return error ? error : begin(stream, graph, true, after);
}

static void mark(const struct bp_sim_nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i]->continued) {
            nodes->items[i]->continued = true;
            mark(&nodes->items[i]->after);
        }
}

/* Whether the origin has waited for all that the other streams did. */
static bool is_joined(const struct bp_sim_capture *capture) {
    bool joined = true;
    mark(&capture->origin->tail);
    for (const struct bp_sim_stream *s = capture->streams; s; s = s->next_captured)
        for (size_t i = 0; i < s->tail.count; i++)
            joined = joined && s->tail.items[i]->continued;
    for (size_t i = 0; i < capture->graph->nodes.count; i++)
        capture->graph->nodes.items[i]->continued = false;
    return joined;
}

/* Takes the capture apart; its graph stays. */
static void finish(struct bp_sim_capture *capture) {
    struct bp_sim_capture **at = &state.first;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    for (struct bp_sim_stream *s = capture->streams; s; s = s->next_captured) {
        s->capture = NULL;
        bp_sim_nodes_clear(&s->tail);
    }
    free(capture);
}

int bp_sim_capture_end(struct bp_sim_stream *handle, struct bp_sim_graph **graph) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !stream->capture)
        return cudaErrorStreamCaptureInvalidated;
    bp_sim_lock(&bp_sim_model.lock);
    struct bp_sim_capture *capture = stream->capture;
    bool lent = capture->lent, over = capture->origin == stream;
    int error = !over ? spoil(capture, cudaErrorStreamCaptureUnmatched) : 0;
    *graph = NULL;
    if (over) {
        *graph = capture->graph;
        error = capture->invalid      ? cudaErrorStreamCaptureInvalidated
                : !is_joined(capture) ? cudaErrorStreamCaptureUnjoined
                                      : 0;
        finish(capture);
    }
    bp_sim_unlock(&bp_sim_model.lock);
    if (over && error) {
        if (!lent)
            bp_sim_graph_free(*graph);
        *graph = NULL;
    }
    return error;
}

int bp_sim_capturing(struct bp_sim_stream *handle, int *status) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !status)
        return cudaErrorInvalidValue;
    bp_sim_lock(&bp_sim_model.lock);
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    bp_sim_unlock(&bp_sim_model.lock);
    return 0;
}

int bp_sim_capture_info(struct bp_sim_stream *handle, uint64_t *id, struct bp_sim_graph **graph,
                        struct bp_sim_nodes *tail) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    *id = stream->capture ? stream->capture->id : 0;
    *graph = stream->capture ? stream->capture->graph : NULL;
    *tail = stream->tail;
    return 0;
}

int bp_sim_capture_follow(struct bp_sim_stream *handle, const struct bp_sim_nodes *after,
                          bool replaced) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !stream->capture)
        return stream ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
    for (size_t i = 0; i < after->count; i++)
        if (after->items[i]->graph != stream->capture->graph)
            return cudaErrorInvalidValue;
    bp_sim_lock(&bp_sim_model.lock);
    if (replaced)
        bp_sim_nodes_clear(&stream->tail);
    int error = bp_sim_nodes_join(&stream->tail, after);
    bp_sim_unlock(&bp_sim_model.lock);
    return error;
}

void bp_sim_capture_leave(struct bp_sim_stream *stream) {
    if (!stream->capture)
        return;
    struct bp_sim_stream **at = &stream->capture->streams;
    while (*at != stream)
        at = &(*at)->next_captured;
    *at = stream->next_captured;
    bp_sim_nodes_clear(&stream->tail);
}

int bp_sim_capture_record(const struct bp_sim_stream *stream, struct bp_sim_mark *to) {
    bp_sim_nodes_clear(&to->nodes);
    to->capture = stream->capture ? stream->capture->id : 0;
    return to->capture ? bp_sim_nodes_join(&to->nodes, &stream->tail) : 0;
}

int bp_sim_capture_wait(struct bp_sim_stream *stream, const struct bp_sim_mark *event) {
    struct bp_sim_capture *capture = state.first;
    while (capture && capture->id != event->capture)
        capture = capture->next;
    if (!capture)
        return spoil(stream->capture,
                     event->capture ? cudaErrorCapturedEvent : cudaErrorStreamCaptureIsolation);
    if (stream->capture && stream->capture != capture) {
        spoil(capture, cudaErrorStreamCaptureMerge);
        return spoil(stream->capture, cudaErrorStreamCaptureMerge);
    }
    if (capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (!stream->magic)
        return spoil(capture, cudaErrorStreamCaptureImplicit);
    if (!stream->capture)
        enter(stream, capture);
    return bp_sim_nodes_join(&stream->tail, &event->nodes);
}
