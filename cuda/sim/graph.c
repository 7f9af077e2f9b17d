/* SPDX-License-Identifier: MIT
 *
 * Graphs by stream capture: the work of one stream in its order. Launching submits it again.
 * Capture that forks into other streams by events is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

struct bp_sim_graph {
    struct bp_sim_work *first, **last;
    size_t size;
};

int bp_sim_graph_new(struct bp_sim_graph **graph) {
    *graph = calloc(1, sizeof **graph);
    if (!*graph)
        return cudaErrorMemoryAllocation;
    (*graph)->last = &(*graph)->first;
    return 0;
}

static void append(struct bp_sim_graph *graph, struct bp_sim_work *work) {
    work->next = NULL;
    *graph->last = work;
    graph->last = &work->next;
    graph->size++;
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

int bp_sim_graph_clone(struct bp_sim_graph **result, const struct bp_sim_graph *graph) {
    int error = graph ? bp_sim_graph_new(result) : cudaErrorInvalidValue;
    for (struct bp_sim_work *w = error ? NULL : graph->first; w; w = w->next) {
        struct bp_sim_work *copy = clone(w);
        if (!copy) {
            bp_sim_graph_free(*result);
            return cudaErrorMemoryAllocation;
        }
        append(*result, copy);
    }
    return error;
}

bool bp_sim_captured(struct bp_sim_stream *handle, struct bp_sim_work *work) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !stream->capture)
        return false;
    append(stream->capture, work);
    return true;
}

int bp_sim_capture_begin(struct bp_sim_stream *handle) {
    int error = bp_sim_ready();
    if (error)
        return error;
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!stream->magic || stream->capture) /* the legacy stream cannot be captured */
        return cudaErrorStreamCaptureUnsupported;
    return bp_sim_graph_new(&stream->capture);
}

int bp_sim_capture_end(struct bp_sim_stream *handle, struct bp_sim_graph **graph) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !stream->capture)
        return cudaErrorStreamCaptureInvalidated;
    *graph = stream->capture;
    stream->capture = NULL;
    return 0;
}

int bp_sim_capturing(struct bp_sim_stream *handle, int *status) {
    struct bp_sim_stream *stream = bp_sim_stream_get(handle);
    if (!stream || !status)
        return cudaErrorInvalidValue;
    *status = stream->capture ? 1 : 0;
    return 0;
}

int bp_sim_graph_launch(struct bp_sim_graph *graph, struct bp_sim_stream *handle) {
    static int (*const submit[])(struct bp_sim_work *, struct bp_sim_stream *) = {
        bp_sim_copy_submit, bp_sim_set_submit, bp_sim_kernel_submit, bp_sim_host_submit};
    int error = graph ? bp_sim_ready() : cudaErrorInvalidValue;
    for (struct bp_sim_work *w = error ? NULL : graph->first; w && !error; w = w->next) {
        struct bp_sim_work *copy = clone(w);
        error = copy ? submit[w->kind](copy, handle) : cudaErrorMemoryAllocation;
    }
    return error;
}

int bp_sim_graph_free(struct bp_sim_graph *graph) {
    for (struct bp_sim_work *w = graph ? graph->first : NULL, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(graph);
    return 0;
}

size_t bp_sim_graph_size(const struct bp_sim_graph *graph) {
    return graph->size;
}
