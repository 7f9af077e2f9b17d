/* SPDX-License-Identifier: MIT
 *
 * libcudart: stream capture, and graphs as a whole. CUDA 12.3 put data of the edges into several
 * signatures, under names with a version; 13 has only those.
 */
#include "cuda/sim/runtime/runtime.h"

CALL2(cudaStreamBeginCapture, _ptsz, (bp_stream stream, int mode),
      ((void)mode, bp_sim_capture_begin(STREAM(stream))))
CALL2(cudaStreamEndCapture, _ptsz, (bp_stream stream, struct bp_sim_graph **graph),
      bp_sim_capture_end(STREAM(stream), graph))
CALL2(cudaStreamIsCapturing, _ptsz, (bp_stream stream, int *status),
      bp_sim_capturing(STREAM(stream), status))

#define GRAPH_AND_NODES struct bp_sim_graph **graph, struct bp_sim_node ***nodes

/* Each of what is asked for may be NULL. */
static int capture_info(bp_stream stream, int *status, uint64_t *id, GRAPH_AND_NODES,
                        size_t *count) {
    uint64_t number;
    struct bp_sim_graph *captured;
    struct bp_sim_nodes tail;
    int error = bp_sim_capture_info(stream, &number, &captured, &tail);
    if (error || !status)
        return error ? error : cudaErrorInvalidValue;
    bp_sim_capturing(stream, status);
    if (id)
        *id = number;
    if (graph)
        *graph = captured;
    if (nodes)
        *nodes = tail.items;
    if (count)
        *count = tail.count;
    return 0;
}

static int follow(bp_stream stream, struct bp_sim_node **nodes, size_t count, unsigned flags) {
    const struct bp_sim_nodes after = {nodes, count};
    return flags > 1 ? cudaErrorInvalidValue : bp_sim_capture_follow(stream, &after, flags == 1);
}

#define INFO_WITH_EDGES                                                                            \
    (bp_stream stream, int *status, uint64_t *id, GRAPH_AND_NODES, const void **edges,             \
     size_t *count)
#define INFO_WITHOUT (bp_stream stream, int *status, uint64_t *id, GRAPH_AND_NODES, size_t *count)
#define FOLLOW_WITH_EDGES                                                                          \
    (bp_stream stream, struct bp_sim_node * *nodes, const void *edges, size_t count, unsigned flags)
#define FOLLOW_WITHOUT (bp_stream stream, struct bp_sim_node * *nodes, size_t count, unsigned flags)
/* Edges have no data here. */
#define NO_EDGES(edges) ((edges) ? (void)(*(edges) = NULL) : (void)0)

#if BP_SIM_CUDA >= 13
CALL2(cudaStreamGetCaptureInfo, _ptsz, INFO_WITH_EDGES,
      (NO_EDGES(edges), capture_info(STREAM(stream), status, id, graph, nodes, count)))
CALL2(cudaStreamUpdateCaptureDependencies, _ptsz, FOLLOW_WITH_EDGES,
      ((void)edges, follow(STREAM(stream), nodes, count, flags)))
#else
CALL2(cudaStreamGetCaptureInfo, _ptsz, (bp_stream stream, int *status, uint64_t *id),
      capture_info(STREAM(stream), status, id, NULL, NULL, NULL))
CALL2(cudaStreamGetCaptureInfo_v2, _ptsz, INFO_WITHOUT,
      capture_info(STREAM(stream), status, id, graph, nodes, count))
CALL2(cudaStreamUpdateCaptureDependencies, _ptsz, FOLLOW_WITHOUT,
      follow(STREAM(stream), nodes, count, flags))
#endif
#if BP_SIM_CUDA == 12
CALL2(cudaStreamGetCaptureInfo_v3, _ptsz, INFO_WITH_EDGES,
      (NO_EDGES(edges), capture_info(STREAM(stream), status, id, graph, nodes, count)))
CALL2(cudaStreamUpdateCaptureDependencies_v2, _ptsz, FOLLOW_WITH_EDGES,
      ((void)edges, follow(STREAM(stream), nodes, count, flags)))
#endif
#if BP_SIM_CUDA >= 12
CALL2(cudaStreamBeginCaptureToGraph, _ptsz,
      (bp_stream stream, struct bp_sim_graph *graph, struct bp_sim_node **nodes, const void *edges,
       size_t count, int mode),
      ((void)edges, (void)mode,
       bp_sim_capture_into(STREAM(stream), graph, &(struct bp_sim_nodes){nodes, count})))
#endif

/* Calls that a mode forbids while a stream captures are not refused. */
static int exchange_mode(int *mode) {
    static __thread int current;
    int old = current;
    if (!mode || *mode < 0 || *mode > 2)
        return cudaErrorInvalidValue;
    current = *mode;
    *mode = old;
    return 0;
}

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
    CALL(cudaThreadExchangeStreamCaptureMode, exchange_mode(mode));
}

API int cudaGraphCreate(struct bp_sim_graph **graph, unsigned flags) {
    (void)flags;
    CALL(cudaGraphCreate, bp_sim_graph_new(graph));
}

API int cudaGraphClone(struct bp_sim_graph **copy, struct bp_sim_graph *graph) {
    CALL(cudaGraphClone, bp_sim_graph_clone(copy, graph));
}

API int cudaGraphDestroy(struct bp_sim_graph *graph) {
    CALL(cudaGraphDestroy, bp_sim_graph_free(graph));
}

/* What follows the graph differs between generations and is of no interest in any. */
API int cudaGraphInstantiate(struct bp_sim_graph **executable, struct bp_sim_graph *graph) {
    CALL(cudaGraphInstantiate, bp_sim_graph_clone(executable, graph));
}

API int cudaGraphInstantiateWithFlags(struct bp_sim_graph **executable,
                                      struct bp_sim_graph *graph) {
    CALL(cudaGraphInstantiateWithFlags, bp_sim_graph_clone(executable, graph));
}

API int cudaGraphExecDestroy(struct bp_sim_graph *executable) {
    CALL(cudaGraphExecDestroy, bp_sim_graph_free(executable));
}

CALL2(cudaGraphLaunch, _ptsz, (struct bp_sim_graph * executable, bp_stream stream),
      bp_sim_graph_launch(executable, STREAM(stream)))
CALL2(cudaGraphUpload, _ptsz, (struct bp_sim_graph * executable, bp_stream stream),
      ((void)executable, (void)STREAM(stream), bp_sim_ready()))

#if BP_SIM_CUDA >= 12
struct instantiate_parameters {
    uint64_t flags;
    bp_stream stream;
    struct bp_sim_node *failed;
    int result; /* 1: see the error, 2: a circle */
};

static int instantiate(struct bp_sim_graph **executable, struct bp_sim_graph *graph,
                       struct instantiate_parameters *p) {
    int error = bp_sim_graph_clone(executable, graph);
    p->failed = NULL;
    p->result = !error ? 0 : error == cudaErrorInvalidValue ? 2 : 1;
    return error;
}

CALL2(cudaGraphInstantiateWithParams, _ptsz,
      (struct bp_sim_graph * *executable, struct bp_sim_graph *graph,
       struct instantiate_parameters *parameters),
      ((void)ptds_, instantiate(executable, graph, parameters)))

struct update_result {
    int result;
    struct bp_sim_node *node, *from;
};

static int update(struct bp_sim_graph *executable, struct bp_sim_graph *graph,
                  struct update_result *to) {
    *to = (struct update_result){.result = 1};
    return bp_sim_graph_update(executable, graph, &to->result, &to->node);
}

API int cudaGraphExecUpdate(struct bp_sim_graph *executable, struct bp_sim_graph *graph,
                            struct update_result *result) {
    CALL(cudaGraphExecUpdate, update(executable, graph, result));
}

API int cudaGraphExecGetFlags(struct bp_sim_graph *executable, uint64_t *flags) {
    *flags = 0;
    CALL(cudaGraphExecGetFlags, executable ? 0 : cudaErrorInvalidValue);
}
#else
API int cudaGraphExecUpdate(struct bp_sim_graph *executable, struct bp_sim_graph *graph,
                            struct bp_sim_node **failed, int *result) {
    *result = 1;
    CALL(cudaGraphExecUpdate, bp_sim_graph_update(executable, graph, result, failed));
}
#endif

static int enable(struct bp_sim_graph *executable, struct bp_sim_node *node, unsigned on) {
    struct bp_sim_node *mine = bp_sim_graph_find(executable, node);
    if (!mine || bp_sim_node_content(mine)->type > BP_SIM_NODE_SET)
        return cudaErrorInvalidValue;
    *bp_sim_node_disabled(mine) = !on;
    return 0;
}

API int cudaGraphNodeSetEnabled(struct bp_sim_graph *executable, struct bp_sim_node *node,
                                unsigned on) {
    CALL(cudaGraphNodeSetEnabled, enable(executable, node, on));
}

static int is_enabled(struct bp_sim_graph *executable, struct bp_sim_node *node, unsigned *on) {
    struct bp_sim_node *mine = bp_sim_graph_find(executable, node);
    if (!mine)
        return cudaErrorInvalidValue;
    *on = !*bp_sim_node_disabled(mine);
    return 0;
}

API int cudaGraphNodeGetEnabled(struct bp_sim_graph *executable, struct bp_sim_node *node,
                                unsigned *on) {
    CALL(cudaGraphNodeGetEnabled, is_enabled(executable, node, on));
}
