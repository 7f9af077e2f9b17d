/* SPDX-License-Identifier: MIT
 *
 * Graphs of the simulated device over several streams and built by hand, with libcupti's records of
 * them: results, dependencies, work beside each other, ids of nodes, and the errors of captures
 * that go wrong.
 */
#include "tests/cuda/sim/graph.h"

/* Up; then add, beside a copy and multiply; then their sum, and down: (x + 5) + 3 x. */
static graph_t capture(void) {
    graph_t graph;
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaMemcpyAsync(t.device, t.pinned, BYTES, H2D, t.one));
    MUST(cudaEventRecord(t.fork, t.one));
    MUST(cudaStreamWaitEvent(t.two, t.fork, 0));
    MUST(cudaMemcpyAsync(t.other, t.device, BYTES, D2D, t.two));
    MUST(launch(multiply, t.other, (void *)3, t.two));
    MUST(launch(add, t.device, (void *)5, t.one));
    MUST(cudaEventRecord(t.left, t.two));
    MUST(cudaStreamWaitEvent(t.one, t.left, 0));
    MUST(launch(sum, t.device, t.other, t.one));
    MUST(cudaMemcpyAsync(t.pinned, t.device, BYTES, D2H, t.one));
    MUST(cudaStreamEndCapture(t.one, &graph));
    return graph;
}

static void test_capture(void) {
    graph_t executable, graph = capture();
    int status = 1;
    size_t count = 0;
    MUST(cudaStreamIsCapturing(t.two, &status));
    CHECK(status == 0, "the second stream still captures");
    MUST(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 6, "%zu nodes", count);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < COUNT; i++)
        t.pinned[i] = i;
    forget();
    MUST(cudaGraphLaunch(executable, t.one));
    MUST(cudaStreamSynchronize(t.one));
    for (int i = 0; i < COUNT; i++)
        CHECK(t.pinned[i] == i + 5 + 3 * i, "%d: %d", i, t.pinned[i]);
    MUST(cuptiActivityFlushAll(1));
    check_nodes(6);
    check_after("up", "add");
    check_after("up", "multiply");
    check_beside("add", "multiply");
    check_after("add", "sum");
    check_after("multiply", "sum");
    check_after("sum", "down");
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

/* Launched in a stream with work before and after it, twice: one after the other. */
static void test_order(void) {
    graph_t executable, graph = capture();
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int i = 0; i < COUNT; i++)
        t.pinned[i] = 1;
    forget();
    MUST(cudaGraphLaunch(executable, t.three));
    MUST(cudaGraphLaunch(executable, t.three));
    MUST(launch(add, t.device, (void *)7, t.three));
    MUST(cudaStreamSynchronize(t.three));
    CHECK(t.pinned[9] == (1 + 5 + 3) * 4 + 5, "%d", t.pinned[9]);
    MUST(cuptiActivityFlushAll(1));
    CHECK(seen.count == 13 && !seen.works[12].node, "%u records", seen.count);
    for (unsigned i = 0; i < 6; i++)
        for (unsigned k = 6; k < 13; k++)
            CHECK(seen.works[k].start >= seen.works[i].end, "%s of the second during %s",
                  seen.works[k].name, seen.works[i].name);
    MUST(cudaGraphExecDestroy(executable));
}

static void unknown(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    (void)grid, (void)block, (void)args;
}

static void set_flag(void *flag) {
    *(int *)flag = 1;
}

/* Nodes in an order in which they cannot run: the dependencies say which. */
static void test_manual(void) {
    graph_t graph, copy, executable;
    node_t down, up, add5, times3, both, set, host, nothing;
    int called = 0;
    struct bp_cuda_3d box = {.source = (uint64_t)t.device,
                             .source_pitch = COUNT * sizeof(int),
                             .source_height = 1,
                             .target = (uint64_t)t.pinned,
                             .target_pitch = COUNT * sizeof(int),
                             .target_height = 1,
                             .width = COUNT * sizeof(int),
                             .height = 1,
                             .depth = 1,
                             .kind = D2H};
    struct set_node zero = {t.other, BYTES, 0, 4, COUNT, 1};
    struct host_node flag = {set_flag, &called};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNode(&down, graph, NULL, 0, &box));
    MUST(add_kernel(&both, graph, NULL, 0, sum, t.device, t.other));
    MUST(cudaGraphAddMemcpyNode1D(&up, graph, NULL, 0, t.device, t.pinned, BYTES, H2D));
    MUST(add_kernel(&add5, graph, &up, 1, add, t.device, (void *)5));
    MUST(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zero));
    MUST(add_kernel(&times3, graph, &set, 1, add, t.other, (void *)3));
    MUST(cudaGraphAddEmptyNode(&nothing, graph, (node_t[]){add5, times3}, 2));
    MUST(cudaGraphAddHostNode(&host, graph, &down, 1, &flag));
    node_t from[] = {nothing, both}, to[] = {both, down};
    MUST(DEPEND(graph, from, to, 2));
    MUST(cudaGraphClone(&copy, graph));
    CHECK(DEPEND(graph, &from[0], (node_t[]){up}, 1) == 0 &&
              cudaGraphInstantiate(&executable, graph, 0) == cudaErrorInvalidValue,
          "a circle");
    MUST(cudaGraphInstantiate(&executable, copy, 0));
    for (int i = 0; i < COUNT; i++)
        t.pinned[i] = i;
    forget();
    MUST(cudaGraphLaunch(executable, NULL));
    MUST(cudaStreamSynchronize(NULL));
    for (int i = 0; i < COUNT; i++)
        CHECK(t.pinned[i] == i + 5 + 3, "%d: %d", i, t.pinned[i]);
    CHECK(called, "the host was not called");
    MUST(cuptiActivityFlushAll(1));
    check_nodes(6);
    check_after("add", "sum");
    check_after("sum", "down");
    check_beside("up", "set");
    CHECK(add_kernel(&up, graph, &down, 1, unknown, NULL, NULL) == cudaErrorInvalidDeviceFunction,
          "an unknown kernel");
    CHECK(cudaGraphAddEmptyNode(&up, NULL, NULL, 0) == cudaErrorInvalidValue, "no graph");
    MUST(cudaGraphDestroy(copy));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphExecDestroy(executable));
}

/* Two streams capture, the second with work that is not joined. */
static void begin_both(void) {
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaEventRecord(t.fork, t.one));
    MUST(cudaStreamWaitEvent(t.two, t.fork, 0));
    MUST(launch(add, t.device, (void *)1, t.two));
}

/* What cannot be captured spoils the capture, up to its end. */
static void end_spoilt(const char *by) {
    graph_t graph = (graph_t)&t;
    int status = 0;
    MUST(cudaStreamIsCapturing(t.two, &status));
    CHECK(status == 2, "after %s it captures: %d", by, status);
    CHECK(launch(add, t.device, (void *)1, t.one) == cudaErrorStreamCaptureInvalidated,
          "after %s a kernel was captured", by);
    CHECK(cudaStreamEndCapture(t.one, &graph) == cudaErrorStreamCaptureInvalidated && !graph,
          "after %s there is a graph", by);
}

static void test_errors(void) {
    graph_t graph = NULL;
    MUST(cudaEventRecord(t.right, t.three));
    begin_both();
    CHECK(cudaStreamWaitEvent(t.one, t.right, 0) == cudaErrorStreamCaptureIsolation,
          "from outside");
    end_spoilt("an event from outside");
    begin_both();
    CHECK(cudaStreamWaitEvent(NULL, t.fork, 0) == cudaErrorStreamCaptureImplicit, "legacy");
    end_spoilt("the legacy stream");
    begin_both();
    CHECK(cudaStreamEndCapture(t.two, &graph) == cudaErrorStreamCaptureUnmatched, "wrong stream");
    end_spoilt("the end of another stream");
    begin_both();
    CHECK(cudaStreamSynchronize(t.one) == cudaErrorStreamCaptureUnsupported, "waited for");
    end_spoilt("waiting for it");
    begin_both();
    MUST(cudaStreamBeginCapture(t.three, 0));
    CHECK(cudaStreamWaitEvent(t.three, t.fork, 0) == cudaErrorStreamCaptureMerge, "two captures");
    CHECK(cudaStreamEndCapture(t.three, &graph) == cudaErrorStreamCaptureInvalidated, "the other");
    end_spoilt("another capture");
    begin_both();
    CHECK(cudaEventQuery(t.fork) == cudaErrorCapturedEvent, "a captured event was asked");
    CHECK(cudaStreamEndCapture(t.one, &graph) == cudaErrorStreamCaptureUnjoined && !graph,
          "not joined");
    CHECK(cudaStreamWaitEvent(t.two, t.fork, 0) == cudaErrorCapturedEvent, "the capture is over");
    MUST(launch(add, t.device, (void *)1, t.two)); /* streams work again */
    MUST(cudaStreamSynchronize(t.two));
}

static void test_all(void) {
    noise = 0;
    test_capture();
    test_order();
    test_manual();
    test_errors();
}

/* What runs beside what is spoilt where a submission is interrupted: three tries, of that alone. */
int main(void) {
    prepare();
    test_all();
    for (int tries = 1; noise && !failures && tries < 3; tries++) {
        puts("   retry sim_graph: what runs beside what");
        test_all();
    }
    return finish();
}
