/* SPDX-License-Identifier: MIT
 *
 * libcudart: stream capture and graphs. A node is added by the call that would do its work, while
 * the thread records.
 */
#include "cuda/sim/runtime.h"

CALL2(cudaStreamBeginCapture, _ptsz, (bp_stream stream, int mode),
      ((void)mode, bp_sim_capture_begin(STREAM(stream))))
CALL2(cudaStreamEndCapture, _ptsz, (bp_stream stream, struct bp_sim_graph **graph),
      bp_sim_capture_end(STREAM(stream), graph))
CALL2(cudaStreamIsCapturing, _ptsz, (bp_stream stream, int *status),
      bp_sim_capturing(STREAM(stream), status))

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

API int cudaGraphGetNodes(struct bp_sim_graph *graph, struct bp_sim_node **nodes, size_t *count) {
    CALL(cudaGraphGetNodes, bp_sim_graph_nodes(graph, nodes, count));
}

#define NODE                                                                                       \
    struct bp_sim_node **node, struct bp_sim_graph *graph, struct bp_sim_node **after, size_t count
#define AFTER (&(struct bp_sim_nodes){after, count})

/* With `submit` between, which finds that the thread records. */
static int end(struct bp_sim_node **node, int error, int submitted) {
    return bp_sim_record_end(node, error ? error : submitted);
}
#define RECORD(submit)                                                                             \
    int error = bp_sim_record_begin(graph, AFTER);                                                 \
    return end(node, error, error ? 0 : (submit))

struct kernel_node {
    const void *stub;
    struct bp_sim_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
};

static int add_kernel(NODE, const struct kernel_node *p) {
    struct bp_sim_launch launch = {p->stub, p->grid, p->block, p->shared, p->args};
    RECORD(bp_sim_launch(&launch, NULL));
}

API int cudaGraphAddKernelNode(NODE, const struct kernel_node *parameters) {
    CALL(cudaGraphAddKernelNode, add_kernel(node, graph, after, count, parameters));
}

static int add_copy(NODE, struct bp_sim_copy *copy) {
    copy->async = true;
    RECORD(bp_sim_copy(copy, NULL));
}

static int add_copy_3d(NODE, const struct bp_cuda_copy3d *p) {
    struct bp_sim_copy copy;
    int error = bp_sim_copy_of_3d(&copy, p);
    return error ? error : add_copy(node, graph, after, count, &copy);
}

API int cudaGraphAddMemcpyNode(NODE, const struct bp_cuda_copy3d *parameters) {
    CALL(cudaGraphAddMemcpyNode, add_copy_3d(node, graph, after, count, parameters));
}

API int cudaGraphAddMemcpyNode1D(NODE, void *target, const void *source, size_t size, int kind) {
    struct bp_sim_copy copy = {.target = target,
                               .source = source,
                               .width = size,
                               .height = 1,
                               .depth = 1,
                               .direction = kind};
    CALL(cudaGraphAddMemcpyNode1D, add_copy(node, graph, after, count, &copy));
}

struct set_node {
    char *target;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

static int add_set(NODE, const struct set_node *p) {
    unsigned same = (p->value & 0xff) * (p->element == 4   ? 0x1010101u
                                         : p->element == 2 ? 0x101
                                                           : 1);
    struct bp_sim_set set = {p->target, p->pitch,      p->width * p->element,
                             p->height, (int)p->value, true};
    if (p->value != same)
        return cudaErrorNotSupported; /* fills with one byte alone */
    RECORD(bp_sim_set(&set, NULL));
}

API int cudaGraphAddMemsetNode(NODE, const struct set_node *parameters) {
    CALL(cudaGraphAddMemsetNode, add_set(node, graph, after, count, parameters));
}

struct host_node {
    void (*function)(void *);
    void *data;
};

static int add_host(NODE, const struct host_node *p) {
    RECORD(bp_sim_host_function(p->function, p->data, NULL));
}

API int cudaGraphAddHostNode(NODE, const struct host_node *parameters) {
    CALL(cudaGraphAddHostNode, add_host(node, graph, after, count, parameters));
}

API int cudaGraphAddEmptyNode(NODE) {
    CALL(cudaGraphAddEmptyNode, bp_sim_graph_add_empty(graph, AFTER, node));
}

/* CUDA 13 has data of the edges before their number. */
#if BP_SIM_CUDA >= 13
API int cudaGraphAddDependencies(struct bp_sim_graph *graph, struct bp_sim_node **from,
                                 struct bp_sim_node **to, const void *data, size_t count) {
    CALL(cudaGraphAddDependencies,
         data ? cudaErrorNotSupported : bp_sim_graph_depend(graph, from, to, count));
}
#else
API int cudaGraphAddDependencies(struct bp_sim_graph *graph, struct bp_sim_node **from,
                                 struct bp_sim_node **to, size_t count) {
    CALL(cudaGraphAddDependencies, bp_sim_graph_depend(graph, from, to, count));
}
#endif
