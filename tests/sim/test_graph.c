/* SPDX-License-Identifier: MIT
 *
 * Graphs of the stand-in over several streams and built by hand, with libcupti's records of them:
 * results, dependencies, work beside each other, ids of nodes, and the errors of captures that go
 * wrong.
 */
#include <stdbool.h>
#include <string.h>

#include "cuda/copy.h"
#include "cuda/sim/cupti_records.h"
#include "tests/sim/cuda.h"

#define COUNT 1000
#define BYTES ((size_t)12 << 20) /* 1 ms on a T4 */
#define KERNEL_NS 3000000
#define MOST 64

typedef struct bp_sim_node *node_t;

int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union bp_cupti_record **record);

struct kernel_node {
    const void *stub;
    struct bp_sim_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
};
struct set_node {
    void *target;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};
struct host_node {
    void (*function)(void *);
    void *data;
};
#define NODE node_t *node, graph_t graph, const node_t *after, size_t count
int cudaGraphCreate(graph_t *graph, unsigned flags);
int cudaGraphClone(graph_t *copy, graph_t graph);
int cudaGraphAddKernelNode(NODE, const struct kernel_node *parameters);
int cudaGraphAddMemcpyNode(NODE, const struct bp_cuda_3d *parameters);
int cudaGraphAddMemcpyNode1D(NODE, void *target, const void *source, size_t size, int kind);
int cudaGraphAddMemsetNode(NODE, const struct set_node *parameters);
int cudaGraphAddHostNode(NODE, const struct host_node *parameters);
int cudaGraphAddEmptyNode(NODE);
int cudaGraphGetNodes(graph_t graph, node_t *nodes, size_t *count);
int cudaStreamIsCapturing(stream_t stream, int *status);
int cudaEventQuery(event_t event);
#if BP_SIM_CUDA >= 13
int cudaGraphAddDependencies(graph_t graph, const node_t *from, const node_t *to, const void *data,
                             size_t count);
#    define DEPEND(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, NULL, count)
#else
int cudaGraphAddDependencies(graph_t graph, const node_t *from, const node_t *to, size_t count);
#    define DEPEND(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, count)
#endif

/* What CUPTI told of a piece of work. */
struct work {
    uint32_t kind, correlation, stream, graph;
    uint64_t node, start, end;
    const char *name;
};

static struct {
    struct work works[MOST];
    unsigned count;
} seen;

static struct {
    int *device, *other, *pinned;
    stream_t one, two, three;
    event_t fork, left, right;
} t;

/* By CUPTI's number. */
static const char *const copy_names[] = {[1] = "up", [2] = "down", [8] = "within"};

static void request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = aligned_alloc(8, 1 << 16);
    *size = 1 << 16;
    *max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    union bp_cupti_record *r = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &r) == 0 && seen.count < MOST) {
        struct work *to = &seen.works[seen.count++];
        if (r->kind == BP_CUPTI_MEMCPY)
            *to = (struct work){r->kind,          r->memcpy.correlation,
                                r->memcpy.stream, r->memcpy.graph,
                                r->memcpy.node,   r->memcpy.start,
                                r->memcpy.end,    copy_names[r->memcpy.copy]};
        else if (r->kind == BP_CUPTI_MEMSET)
            *to = (struct work){
                r->kind,        r->memset.correlation, r->memset.stream, r->memset.graph,
                r->memset.node, r->memset.start,       r->memset.end,    "set"};
        else
            *to = (struct work){r->kind,         r->kernel.correlation, r->kernel.stream,
                                r->kernel.graph, r->kernel.node,        r->kernel.start,
                                r->kernel.end,   r->kernel.name};
    }
    free(buffer);
}

static const struct work *find(const char *name) {
    for (unsigned i = 0; i < seen.count; i++)
        if (!strcmp(seen.works[i].name, name))
            return &seen.works[i];
    CHECK(false, "no record of %s", name);
    return &seen.works[MOST - 1];
}

static void forget(void) {
    MUST(cudaDeviceSynchronize());
    MUST(cuptiActivityFlushAll(1));
    seen.count = 0;
}

static void check_after(const char *first, const char *second) {
    CHECK(find(second)->start >= find(first)->end, "%s began before %s was over", second, first);
}

static void check_beside(const char *first, const char *second) {
    const struct work *a = find(first), *b = find(second);
    CHECK(a->start < b->end && b->start < a->end, "%s and %s ran one after the other", first,
          second);
    CHECK(a->stream != b->stream, "%s and %s have one stream", first, second);
}

/* All pieces are nodes of one graph, each its own, and of one call. */
static void check_nodes(unsigned count) {
    CHECK(seen.count == count, "%u records, not %u", seen.count, count);
    for (unsigned i = 0; i < seen.count; i++) {
        const struct work *w = &seen.works[i];
        CHECK(w->node && w->graph && w->graph == seen.works[0].graph, "node %lx of %u", w->node,
              w->graph);
        CHECK(w->correlation == seen.works[0].correlation, "another call");
        for (unsigned k = 0; k < i; k++)
            CHECK(w->node != seen.works[k].node, "node %lx twice", w->node);
    }
}

static void add(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], k = *(int *)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] += k;
}
static void multiply(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], k = *(int *)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] *= k;
}
static void sum(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], *others = *(int **)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] += others[i];
}

static int launch(bp_sim_run run, void *values, void *second, stream_t stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    void *args[] = {&values, &second};
    return cudaLaunchKernel((const void *)run, one, one, args, 0, stream);
}

static void prepare(void) {
    static const size_t sizes[] = {8, 8, 0};
    static const struct {
        const char *name;
        bp_sim_run run;
    } kernels[] = {{"add", add}, {"multiply", multiply}, {"sum", sum}};
    for (size_t i = 0; i < 3; i++)
        MUST(bp_sim_register_kernel(kernels[i].name, (const void *)kernels[i].run, kernels[i].run,
                                    sizes, KERNEL_NS, 0));
    MUST(cudaMalloc((void **)&t.device, BYTES));
    MUST(cudaMalloc((void **)&t.other, BYTES));
    MUST(cudaMallocHost((void **)&t.pinned, BYTES));
    MUST(cudaStreamCreateWithFlags(&t.one, 1));
    MUST(cudaStreamCreateWithFlags(&t.two, 1));
    MUST(cudaStreamCreateWithFlags(&t.three, 1));
    MUST(cudaEventCreate(&t.fork));
    MUST(cudaEventCreate(&t.left));
    MUST(cudaEventCreate(&t.right));
    MUST(cuptiActivityRegisterCallbacks(request, complete));
    MUST(cuptiActivityEnable(BP_CUPTI_MEMCPY));
    MUST(cuptiActivityEnable(BP_CUPTI_MEMSET));
    MUST(cuptiActivityEnable(BP_CUPTI_CONCURRENT_KERNEL));
}

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

static int add_kernel(node_t *node, graph_t graph, const node_t *after, size_t count,
                      bp_sim_run run, void *values, void *second) {
    void *args[] = {&values, &second};
    struct kernel_node parameters = {(const void *)run, {1, 1, 1}, {1, 1, 1}, 0, args, NULL};
    return cudaGraphAddKernelNode(node, graph, after, count, &parameters);
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

static void test_errors(void) {
    graph_t graph = NULL;
    MUST(cudaEventRecord(t.right, t.three));
    MUST(cudaStreamBeginCapture(t.one, 0));
    MUST(cudaEventRecord(t.fork, t.one));
    MUST(cudaStreamWaitEvent(t.two, t.fork, 0));
    MUST(launch(add, t.device, (void *)1, t.two));
    CHECK(cudaEventQuery(t.fork) == cudaErrorCapturedEvent, "a captured event was asked");
    CHECK(cudaStreamWaitEvent(t.one, t.right, 0) == cudaErrorStreamCaptureIsolation,
          "from outside");
    CHECK(cudaStreamWaitEvent(NULL, t.fork, 0) == cudaErrorStreamCaptureImplicit, "legacy");
    CHECK(cudaStreamEndCapture(t.two, &graph) == cudaErrorStreamCaptureUnmatched, "wrong stream");
    MUST(cudaStreamBeginCapture(t.three, 0));
    CHECK(cudaStreamWaitEvent(t.three, t.fork, 0) == cudaErrorStreamCaptureMerge, "two captures");
    MUST(cudaStreamEndCapture(t.three, &graph));
    MUST(cudaGraphDestroy(graph));
    CHECK(cudaStreamEndCapture(t.one, &graph) == cudaErrorStreamCaptureUnjoined && !graph,
          "not joined");
    CHECK(cudaStreamWaitEvent(t.two, t.fork, 0) == cudaErrorCapturedEvent, "the capture is over");
    MUST(launch(add, t.device, (void *)1, t.two)); /* streams work again */
    MUST(cudaStreamSynchronize(t.two));
}

int main(void) {
    prepare();
    test_capture();
    test_order();
    test_manual();
    test_errors();
    printf("%d failures\n", failures);
    return failures != 0;
}
