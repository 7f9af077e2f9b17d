/* SPDX-License-Identifier: MIT
 *
 * Graphs within graphs, events in graphs, and graphs that are asked about and changed: results,
 * order, and CUPTI's records.
 */
#include "tests/cuda/sim/graph.h"

enum { KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD };
#define EXTERNAL 1

int cudaGraphAddChildGraphNode(NODE, graph_t child);
int cudaGraphChildGraphNodeGetGraph(node_t node, graph_t *child);
int cudaGraphExecChildGraphNodeSetParams(graph_t executable, node_t node, graph_t child);
int cudaGraphAddEventRecordNode(NODE, event_t event);
int cudaGraphAddEventWaitNode(NODE, event_t event);
int cudaGraphEventRecordNodeGetEvent(node_t node, event_t *event);
int cudaGraphExecEventRecordNodeSetEvent(graph_t executable, node_t node, event_t event);
int cudaEventRecordWithFlags(event_t event, stream_t stream, unsigned flags);
int cudaGraphGetRootNodes(graph_t graph, node_t *nodes, size_t *count);
int cudaGraphNodeGetType(node_t node, int *type);
int cudaGraphNodeFindInClone(node_t *found, node_t node, graph_t clone);
int cudaGraphDestroyNode(node_t node);
int cudaGraphKernelNodeGetParams(node_t node, struct kernel_node *parameters);
int cudaGraphKernelNodeSetParams(node_t node, const struct kernel_node *parameters);
int cudaGraphExecKernelNodeSetParams(graph_t executable, node_t node,
                                     const struct kernel_node *parameters);
int cudaGraphMemcpyNodeGetParams(node_t node, struct bp_cuda_3d *parameters);
int cudaGraphExecMemcpyNodeSetParams1D(graph_t executable, node_t node, void *target,
                                       const void *source, size_t size, int kind);
int cudaGraphNodeSetEnabled(graph_t executable, node_t node, unsigned on);
int cudaGraphNodeGetEnabled(graph_t executable, node_t node, unsigned *on);
#if BP_SIM_CUDA >= 13
int cudaGraphGetEdges(graph_t graph, node_t *from, node_t *to, void *data, size_t *count);
int cudaGraphNodeGetDependencies(node_t node, node_t *nodes, void *data, size_t *count);
int cudaGraphNodeGetDependentNodes(node_t node, node_t *nodes, void *data, size_t *count);
int cudaGraphRemoveDependencies(graph_t graph, const node_t *from, const node_t *to,
                                const void *data, size_t count);
int cudaStreamGetCaptureInfo(stream_t stream, int *status, uint64_t *id, graph_t *graph,
                             const node_t **nodes, const void **data, size_t *count);
#    define INFO(stream, status, id, graph, nodes, count)                                          \
        cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, count)
#    define DATA NULL,
#else
int cudaGraphGetEdges(graph_t graph, node_t *from, node_t *to, size_t *count);
int cudaGraphNodeGetDependencies(node_t node, node_t *nodes, size_t *count);
int cudaGraphNodeGetDependentNodes(node_t node, node_t *nodes, size_t *count);
int cudaGraphRemoveDependencies(graph_t graph, const node_t *from, const node_t *to, size_t count);
int cudaStreamGetCaptureInfo_v2(stream_t stream, int *status, uint64_t *id, graph_t *graph,
                                const node_t **nodes, size_t *count);
#    define INFO(stream, status, id, graph, nodes, count)                                          \
        cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count)
#    define DATA
#endif
#if BP_SIM_CUDA >= 12
struct update {
    int result;
    node_t node, from;
};
int cudaGraphExecUpdate(graph_t executable, graph_t graph, struct update *result);
#else
int cudaGraphExecUpdate(graph_t executable, graph_t graph, node_t *node, int *result);
#endif

static int update(graph_t executable, graph_t graph, int *result) {
#if BP_SIM_CUDA >= 12
    struct update info;
    int error = cudaGraphExecUpdate(executable, graph, &info);
    *result = info.result;
    return error;
#else
    node_t node;
    return cudaGraphExecUpdate(executable, graph, &node, result);
#endif
}

static void fill(void) {
    for (int i = 0; i < COUNT; i++)
        t.pinned[i] = i;
}

static void run(graph_t executable) {
    fill();
    forget();
    MUST(cudaGraphLaunch(executable, t.one));
    MUST(cudaStreamSynchronize(t.one));
    MUST(cuptiActivityFlushAll(1));
}

/* x becomes a x + b. */
static void check_line(int a, int b) {
    for (int i = 0; i < COUNT; i++)
        if (t.pinned[i] != a * i + b) {
            CHECK(false, "%d: %d, not %d", i, t.pinned[i], a * i + b);
            return;
        }
}

/* Two kernels one after the other: (x + plus) times. */
static graph_t make_child(int plus, int times) {
    graph_t graph;
    node_t first, second;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(add_kernel(&first, graph, NULL, 0, add, t.device, (void *)(intptr_t)plus));
    MUST(add_kernel(&second, graph, &first, 1, multiply, t.device, (void *)(intptr_t)times));
    return graph;
}

/* Up, the child, down: the child begins after the upload and is over before the download. */
static graph_t make_parent(graph_t child, node_t nodes[3]) {
    graph_t graph;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNode1D(&nodes[0], graph, NULL, 0, t.device, t.pinned, BYTES, H2D));
    MUST(cudaGraphAddChildGraphNode(&nodes[1], graph, &nodes[0], 1, child));
    MUST(cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, t.pinned, t.device, BYTES, D2H));
    return graph;
}

static void check_order(void) {
    check_nodes(4);
    check_after("up", "add");
    check_after("add", "multiply");
    check_after("multiply", "down");
}

static void test_child(void) {
    graph_t child = make_child(5, 3), other = make_child(1, 2), wrong, inside, executable;
    node_t nodes[3];
    graph_t graph = make_parent(child, nodes);
    size_t count = 0;
    int type = -1;
    MUST(cudaGraphDestroy(child)); /* the node has its own */
    MUST(cudaGraphChildGraphNodeGetGraph(nodes[1], &inside));
    MUST(cudaGraphGetNodes(inside, NULL, &count));
    MUST(cudaGraphNodeGetType(nodes[1], &type));
    CHECK(count == 2 && type == GRAPH, "%zu nodes within, type %d", count, type);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    run(executable);
    check_line(3, 15);
    check_order();
    MUST(cudaGraphExecChildGraphNodeSetParams(executable, nodes[1], other));
    run(executable);
    check_line(2, 2);
    check_order();
    MUST(cudaGraphCreate(&wrong, 0));
    CHECK(cudaGraphExecChildGraphNodeSetParams(executable, nodes[1], wrong) ==
              cudaErrorInvalidValue,
          "a child of another shape");
    CHECK(cudaGraphAddChildGraphNode(&nodes[0], graph, NULL, 0, NULL) == cudaErrorInvalidValue,
          "no child");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(other));
    MUST(cudaGraphDestroy(wrong));
}

/* A child with branches, beside work of the parent: nothing waits for what it need not. */
static void test_beside(void) {
    graph_t child, graph, executable;
    node_t nodes[4];
    MUST(cudaGraphCreate(&child, 0));
    MUST(add_kernel(&nodes[0], child, NULL, 0, add, t.device, (void *)1));
    MUST(add_kernel(&nodes[1], child, NULL, 0, multiply, t.other, (void *)2));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNode1D(&nodes[0], graph, NULL, 0, t.pinned, t.device, BYTES, D2H));
    MUST(cudaGraphAddChildGraphNode(&nodes[1], graph, NULL, 0, child));
    MUST(add_kernel(&nodes[2], graph, &nodes[1], 1, sum, t.device, t.other));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    run(executable);
    check_nodes(4);
    check_beside("add", "multiply");
    check_beside("add", "down");
    check_after("multiply", "sum");
    check_after("add", "sum");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(child));
}

/* A graph that is launched into a capturing stream becomes a child. */
static void test_captured_launch(void) {
    graph_t child = make_child(5, 3), inner, graph, executable;
    size_t count = 0;
    MUST(cudaGraphInstantiate(&inner, child, 0));
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaMemcpyAsync(t.device, t.pinned, BYTES, H2D, t.one));
    MUST(cudaGraphLaunch(inner, t.one));
    MUST(cudaMemcpyAsync(t.pinned, t.device, BYTES, D2H, t.one));
    MUST(cudaStreamEndCapture(t.one, &graph));
    MUST(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 3, "%zu nodes", count);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphExecDestroy(inner));
    run(executable);
    check_line(3, 15);
    check_order();
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(child));
}

/* A graph waits for an event of another stream, and records one for it. */
static void test_events(void) {
    graph_t graph, executable;
    node_t wait, kernel, record;
    event_t event, late;
    float ms = 0;
    MUST(cudaEventCreate(&late));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, t.left));
    MUST(add_kernel(&kernel, graph, &wait, 1, add, t.device, (void *)1));
    MUST(cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, t.right));
    MUST(cudaGraphEventRecordNodeGetEvent(record, &event));
    CHECK(event == t.right, "another event");
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    forget();
    MUST(launch(multiply, t.other, (void *)1, t.two));
    MUST(cudaEventRecord(t.left, t.two));
    MUST(cudaGraphLaunch(executable, t.one));
    MUST(cudaStreamWaitEvent(t.three, t.right, 0));
    MUST(launch(sum, t.other, t.device, t.three));
    MUST(cudaDeviceSynchronize());
    MUST(cuptiActivityFlushAll(1));
    check_after("multiply", "add");
    check_after("add", "sum");
    MUST(cudaEventElapsedTime(&ms, t.left, t.right));
    CHECK(ms > 2.9f, "%f ms between the events", (double)ms);
    CHECK_TIME(ms < 3.5f, "%f ms between the events", (double)ms);
    MUST(cudaGraphExecEventRecordNodeSetEvent(executable, record, late));
    MUST(cudaGraphLaunch(executable, t.one));
    MUST(cudaEventSynchronize(late));
    MUST(cudaEventElapsedTime(&ms, t.right, late));
    CHECK(ms > 2.9f, "the other event was not recorded: %f", (double)ms);
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, NULL) == cudaErrorInvalidValue,
          "no event");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaEventDestroy(late));
}

/* The same by capture: events that are not the graph's own. */
static void test_external(void) {
    graph_t graph, executable;
    node_t nodes[3];
    size_t count = 3;
    int types[3] = {-1, -1, -1};
    CHECK(cudaEventRecordWithFlags(t.right, t.one, EXTERNAL) == cudaErrorInvalidValue,
          "external outside of a capture");
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaStreamWaitEvent(t.one, t.left, EXTERNAL));
    MUST(launch(add, t.device, (void *)1, t.one));
    MUST(cudaEventRecordWithFlags(t.right, t.one, EXTERNAL));
    MUST(cudaStreamEndCapture(t.one, &graph));
    MUST(cudaGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++)
        MUST(cudaGraphNodeGetType(nodes[i], &types[i]));
    CHECK(count == 3 && types[0] == WAIT && types[1] == KERNEL && types[2] == RECORD,
          "types %d %d %d", types[0], types[1], types[2]);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, t.one));
    CHECK(cudaEventQuery(t.right) == cudaErrorNotReady, "the event is over");
    MUST(cudaEventSynchronize(t.right));
    CHECK(cudaStreamQuery(t.one) == 0, "the stream is not");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

static graph_t capture_line(int plus, int times, bool more) {
    graph_t graph;
    MUST(cudaStreamBeginCapture(t.two, 0));
    MUST(cudaMemcpyAsync(t.device, t.pinned, BYTES, H2D, t.two));
    MUST(launch(add, t.device, (void *)(intptr_t)plus, t.two));
    MUST(launch(multiply, t.device, (void *)(intptr_t)times, t.two));
    if (more)
        MUST(launch(multiply, t.device, (void *)1, t.two));
    MUST(cudaMemcpyAsync(t.pinned, t.device, BYTES, D2H, t.two));
    MUST(cudaStreamEndCapture(t.two, &graph));
    return graph;
}

/* As PyTorch does it: capture again, update, instantiate anew only if that fails. */
static void test_update(void) {
    graph_t graph = capture_line(1, 2, false), same = capture_line(5, 3, false), executable;
    graph_t longer = capture_line(1, 1, true);
    int result = -1;
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    run(executable);
    check_line(2, 2);
    uint64_t node = find("add")->node;
    MUST(update(executable, same, &result));
    CHECK(result == 0, "result %d", result);
    MUST(cudaGraphDestroy(same));
    run(executable);
    check_line(3, 15);
    check_order();
    CHECK(find("add")->node == node, "the node has another id");
    CHECK(update(executable, longer, &result) == cudaErrorGraphExecUpdateFailure && result == 2,
          "another shape: %d", result);
    run(executable);
    check_line(3, 15);
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(longer));
}

static void test_parameters(void) {
    graph_t graph, executable, copy;
    node_t up, kernel, down, found;
    struct kernel_node parameters;
    struct bp_cuda_3d box;
    int *values = t.device;
    void *plus = (void *)7, *args[] = {&values, &plus};
    unsigned on = 9;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNode1D(&up, graph, NULL, 0, t.device, t.pinned, BYTES, H2D));
    MUST(add_kernel(&kernel, graph, &up, 1, add, t.device, (void *)5));
    MUST(cudaGraphAddMemcpyNode1D(&down, graph, &kernel, 1, t.pinned, t.device, BYTES, D2H));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphKernelNodeGetParams(kernel, &parameters));
    CHECK(parameters.stub == (const void *)add && *(intptr_t *)parameters.args[1] == 5,
          "other parameters");
    parameters.args = args;
    MUST(cudaGraphExecKernelNodeSetParams(executable, kernel, &parameters));
    run(executable);
    check_line(1, 7);
    MUST(cudaGraphNodeSetEnabled(executable, kernel, 0));
    MUST(cudaGraphNodeGetEnabled(executable, kernel, &on));
    CHECK(on == 0, "enabled %u", on);
    run(executable);
    check_line(1, 0);
    CHECK(seen.count == 2, "%u records", seen.count);
    MUST(cudaGraphNodeSetEnabled(executable, kernel, 1));
    MUST(cudaGraphExecMemcpyNodeSetParams1D(executable, down, t.pinned, t.device, 40, D2H));
    run(executable);
    CHECK(t.pinned[9] == 16 && t.pinned[10] == 10, "%d %d", t.pinned[9], t.pinned[10]);
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphMemcpyNodeGetParams(down, &box));
    CHECK(box.width == BYTES && box.target == (uint64_t)t.pinned && box.kind == D2H, "the copy");
    MUST(cudaGraphClone(&copy, graph));
    MUST(cudaGraphNodeFindInClone(&found, kernel, copy));
    MUST(cudaGraphKernelNodeSetParams(found, &parameters));
    CHECK(cudaGraphKernelNodeSetParams(down, &parameters) == cudaErrorInvalidValue, "a copy");
    MUST(cudaGraphInstantiate(&executable, copy, 0));
    run(executable);
    check_line(1, 7);
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(copy));
    MUST(cudaGraphDestroy(graph));
}

static void test_shape(void) {
    graph_t graph;
    node_t a, b, c, from[4], to[4], some[4];
    size_t count = 0, edges = 4, before = 4, behind = 4, roots = 4;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    MUST(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    MUST(cudaGraphAddEmptyNode(&c, graph, (node_t[]){a, b}, 2));
    MUST(cudaGraphGetEdges(graph, from, to, DATA & edges));
    CHECK(edges == 3 && from[0] == a && to[0] == b && to[2] == c && !from[3], "%zu edges", edges);
    MUST(cudaGraphNodeGetDependencies(c, some, DATA & before));
    CHECK(before == 2 && some[0] == a && some[1] == b, "%zu before", before);
    MUST(cudaGraphNodeGetDependentNodes(a, some, DATA & behind));
    CHECK(behind == 2 && some[0] == b && some[1] == c, "%zu behind", behind);
    MUST(cudaGraphRemoveDependencies(graph, &a, &c, DATA 1));
    MUST(cudaGraphDestroyNode(b));
    MUST(cudaGraphGetRootNodes(graph, some, &roots));
    CHECK(roots == 2 && some[0] == a && some[1] == c, "%zu roots", roots);
    MUST(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 2, "%zu nodes", count);
    MUST(cudaGraphDestroy(graph));
}

static void test_info(void) {
    graph_t graph = NULL, ended;
    const node_t *tail = NULL;
    uint64_t id = 9;
    size_t count = 9;
    int status = 9;
    MUST(INFO(t.one, &status, &id, &graph, &tail, &count));
    CHECK(status == 0, "status %d", status);
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(launch(add, t.device, (void *)1, t.one));
    MUST(INFO(t.one, &status, &id, &graph, &tail, &count));
    CHECK(status == 1 && id && count == 1 && tail, "status %d, %zu nodes", status, count);
    MUST(cudaStreamEndCapture(t.one, &ended));
    CHECK(ended == graph, "another graph");
    MUST(cudaGraphDestroy(ended));
}

/* Values of more than a byte. */
static void test_set(void) {
    graph_t graph, executable;
    node_t set, down;
    struct set_node parameters = {t.device, 0, 0x01020304, 4, COUNT, 1};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &parameters));
    MUST(cudaGraphAddMemcpyNode1D(&down, graph, &set, 1, t.pinned, t.device, BYTES, D2H));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    run(executable);
    CHECK(t.pinned[0] == 0x01020304 && t.pinned[COUNT - 1] == 0x01020304, "%x", t.pinned[0]);
    parameters.element = 3;
    CHECK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &parameters) == cudaErrorInvalidValue,
          "three bytes");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

/* Memory that a graph has for itself: the same each time. */
static void test_memory(void) {
    graph_t graph, executable;
    int *own = NULL;
    size_t count = 0;
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaMallocAsync((void **)&own, BYTES, t.one));
    MUST(cudaMemcpyAsync(own, t.pinned, BYTES, H2D, t.one));
    MUST(launch(add, own, (void *)4, t.one));
    MUST(cudaMemcpyAsync(t.pinned, own, BYTES, D2H, t.one));
    MUST(cudaFreeAsync(own, t.one));
    MUST(cudaStreamEndCapture(t.one, &graph));
    MUST(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 5, "%zu nodes", count);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) {
        run(executable);
        check_line(1, 4);
    }
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

static void test_all(void) {
    noise = 0;
    test_child();
    test_beside();
    test_captured_launch();
    test_events();
    test_external();
    test_update();
    test_parameters();
    test_shape();
    test_info();
    test_set();
    test_memory();
}

/* What runs beside what is spoilt where a submission is interrupted: three tries, of that alone. */
int main(void) {
    prepare();
    test_all();
    for (int tries = 1; noise && !failures && tries < 3; tries++) {
        puts("   retry sim_graph_nodes: what runs beside what");
        test_all();
    }
    return finish();
}
