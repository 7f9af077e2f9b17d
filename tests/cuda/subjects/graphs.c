/* SPDX-License-Identifier: MIT
 *
 * Graphs over several engines of a device: captured from three streams, or built node by node. It
 * prints "ok", or what went wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "tests/cuda/subjects/kernels.h"
#include "tests/cuda/sim/cuda.h"

#define BYTES (24u << 20) /* 2 ms on a T4 */
#define ROUNDS 12

typedef struct bp_sim_node *node_t;

struct kernel_node {
    const void *stub;
    struct bp_sim_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
};
#define NODE node_t *node, graph_t graph, const node_t *after, size_t count
int cudaGraphCreate(graph_t *graph, unsigned flags);
int cudaGraphAddKernelNode(NODE, const struct kernel_node *parameters);
int cudaGraphAddMemcpyNode1D(NODE, void *target, const void *source, size_t size, int kind);
int cudaGraphAddChildGraphNode(NODE, graph_t child);
int cudaGraphAddEventWaitNode(NODE, event_t event);
int cudaGraphAddEventRecordNode(NODE, event_t event);
int cudaGraphNodeSetEnabled(graph_t executable, node_t node, unsigned on);
#if BP_SIM_CUDA >= 12
struct update {
    int result;
    node_t node, from;
};
int cudaGraphExecUpdate(graph_t executable, graph_t graph, struct update *result);
#else
struct update {
    int result;
    node_t node;
};
int cudaGraphExecUpdate(graph_t executable, graph_t graph, node_t *node, int *result);
#    define cudaGraphExecUpdate(executable, graph, to)                                             \
        cudaGraphExecUpdate(executable, graph, &(to)->node, &(to)->result)
#endif

static struct {
    char *pinned, *result, *device, *other;
    stream_t one, two, three;
    event_t fork, copied, computed;
} state;

static void prepare(void) {
    MUST(cudaMallocHost((void **)&state.pinned, BYTES));
    MUST(cudaMallocHost((void **)&state.result, BYTES));
    MUST(cudaMalloc((void **)&state.device, BYTES));
    MUST(cudaMalloc((void **)&state.other, BYTES));
    memset(state.pinned, 7, BYTES);
    stream_t *streams[] = {&state.one, &state.two, &state.three};
    event_t *events[] = {&state.fork, &state.copied, &state.computed};
    for (int i = 0; i < 3; i++) {
        MUST(cudaStreamCreateWithFlags(streams[i], 1));
        MUST(cudaEventCreate(events[i]));
    }
}

static void follow(event_t event, stream_t leader, stream_t follower) {
    MUST(cudaEventRecord(event, leader));
    MUST(cudaStreamWaitEvent(follower, event, 0));
}

/* An upload and two kernels beside it; a kernel after all three, and its result down. */
static graph_t capture(void) {
    graph_t graph;
    MUST(cudaStreamBeginCapture(state.one, 0));
    MUST(dsl_launch(1, state.one));
    follow(state.fork, state.one, state.two);
    MUST(cudaStreamWaitEvent(state.three, state.fork, 0));
    MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.two));
    MUST(dsl_launch(3, state.three));
    MUST(dsl_launch(4, state.one));
    follow(state.copied, state.two, state.one);
    follow(state.computed, state.three, state.one);
    MUST(dsl_launch(2, state.one));
    MUST(cudaMemcpyAsync(state.result, state.device, BYTES, D2H, state.one));
    MUST(cudaStreamEndCapture(state.one, &graph));
    return graph;
}

static node_t add_kernel(graph_t graph, node_t *after, size_t count, int ms) {
    node_t node;
    struct kernel_node parameters = {kernel_stub(ms), {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL};
    MUST(cudaGraphAddKernelNode(&node, graph, after, count, &parameters));
    return node;
}

static graph_t build(int longest) {
    graph_t graph;
    node_t up, down, first, kernels[2];
    MUST(cudaGraphCreate(&graph, 0));
    first = add_kernel(graph, NULL, 0, 1);
    MUST(cudaGraphAddMemcpyNode1D(&up, graph, &first, 1, state.device, state.pinned, BYTES, H2D));
    kernels[0] = add_kernel(graph, &first, 1, longest);
    kernels[1] = up;
    node_t last = add_kernel(graph, kernels, 2, 2);
    MUST(cudaGraphAddMemcpyNode1D(&down, graph, &last, 1, state.result, state.device, BYTES, D2H));
    return graph;
}

static void run(graph_t graph, int rounds) {
    graph_t executable;
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int i = 0; i < rounds; i++) {
        MUST(cudaGraphLaunch(executable, state.two));
        MUST(cudaStreamSynchronize(state.two));
        CHECK(state.result[0] == 7 && state.result[BYTES - 1] == 7, "not copied");
        memset(state.result, 0, 64);
    }
    MUST(cudaGraphExecDestroy(executable));
}

/* A kernel beside a graph of its own: two kernels, and a copy up beside them. */
static graph_t nest(void) {
    graph_t child, graph;
    node_t up, first, inner, own, down;
    MUST(cudaGraphCreate(&child, 0));
    first = add_kernel(child, NULL, 0, 1);
    add_kernel(child, &first, 1, 3);
    MUST(cudaGraphAddMemcpyNode1D(&up, child, NULL, 0, state.device, state.pinned, BYTES, H2D));
    MUST(cudaGraphCreate(&graph, 0));
    own = add_kernel(graph, NULL, 0, 2);
    MUST(cudaGraphAddChildGraphNode(&inner, graph, NULL, 0, child));
    MUST(cudaGraphDestroy(child));
    MUST(cudaGraphAddMemcpyNode1D(&down, graph, (node_t[]){own, inner}, 2, state.result,
                                  state.device, BYTES, D2H));
    return graph;
}

/* The same graph, captured anew each time and put into the executable one. */
static void update(void) {
    graph_t executable = NULL;
    struct update result;
    for (int i = 0; i < ROUNDS; i++) {
        graph_t graph = capture();
        if (executable)
            MUST(cudaGraphExecUpdate(executable, graph, &result));
        else
            MUST(cudaGraphInstantiate(&executable, graph, 0));
        MUST(cudaGraphDestroy(graph));
        MUST(cudaGraphLaunch(executable, state.two));
        MUST(cudaStreamSynchronize(state.two));
        CHECK(state.result[0] == 7, "not copied");
        state.result[0] = 0;
    }
    MUST(cudaGraphExecDestroy(executable));
}

/* A graph that waits for a copy of another stream, and a copy that waits for the graph. */
static void events(void) {
    graph_t graph, executable;
    node_t wait, kernel, record;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, state.copied));
    kernel = add_kernel(graph, &wait, 1, 3);
    MUST(cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, state.computed));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
        MUST(cudaEventRecord(state.copied, state.one));
        MUST(cudaGraphLaunch(executable, state.two));
        MUST(cudaStreamWaitEvent(state.one, state.computed, 0));
        MUST(cudaMemcpyAsync(state.result, state.device, BYTES, D2H, state.one));
        MUST(cudaStreamSynchronize(state.one));
    }
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

/* A graph of a thousand short kernels, of which one is sometimes left out: far more work than
 * calls. */
static void many(void) {
    static char tiny;
    graph_t graph, executable;
    node_t node = NULL;
    struct kernel_node parameters = {&tiny, {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL};
    MUST(bp_sim_register_kernel("tiny", &tiny, NULL, NULL, 3000, 0));
    MUST(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 1000; i++)
        MUST(cudaGraphAddKernelNode(&node, graph, &node, i > 0, &parameters));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 180; i++) {
        MUST(cudaGraphNodeSetEnabled(executable, node, i % 60 < 40));
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES / 64, H2D, state.one));
        MUST(cudaGraphLaunch(executable, state.one));
        if (i % 3 == 0)
            MUST(cudaStreamSynchronize(state.one));
    }
    MUST(cudaStreamSynchronize(state.one));
}

/* Copies, past a flush or two, and then a sudden end. */
static void copy_until_killed(double ms) {
    double end = now_ms() + ms;
    while (now_ms() < end)
        MUST(cudaMemcpy(state.device, state.pinned, BYTES, H2D));
    raise(SIGKILL);
}

static void *launch_some(void *unused) {
    for (int i = 0; i < 5; i++)
        MUST(dsl_launch(1, state.one));
    return unused;
}

/* What another thread submits to the stream goes into the graph, too. */
static graph_t capture_elsewhere(void) {
    graph_t graph;
    pthread_t thread;
    MUST(cudaStreamBeginCapture(state.one, 2));
    pthread_create(&thread, NULL, launch_some, NULL);
    pthread_join(thread, NULL);
    MUST(cudaStreamEndCapture(state.one, &graph));
    return graph;
}

/* And so does a graph that is launched. */
static graph_t capture_graph(void) {
    graph_t graph, executable;
    MUST(cudaGraphInstantiate(&executable, build(3), 0));
    MUST(cudaStreamBeginCapture(state.one, 0));
    MUST(cudaGraphLaunch(executable, state.one));
    MUST(cudaStreamEndCapture(state.one, &graph));
    return graph;
}

static void *compute_for_long(void *unused) {
    for (int i = 0; i < 4; i++) {
        MUST(dsl_launch(400, state.two));
        MUST(cudaStreamSynchronize(state.two));
    }
    return unused;
}

/* But another stream does its work meanwhile, however long it takes. */
static void capture_meanwhile(void) {
    graph_t graph;
    pthread_t thread;
    pthread_create(&thread, NULL, compute_for_long, NULL);
    for (int i = 0; i < 8; i++) {
        double end = now_ms() + 200;
        MUST(cudaStreamBeginCapture(state.one, 2));
        MUST(dsl_launch(1, state.one));
        while (now_ms() < end)
            continue;
        MUST(cudaStreamEndCapture(state.one, &graph));
        MUST(cudaGraphDestroy(graph));
    }
    pthread_join(thread, NULL);
}

static void *end_capture(void *graph) {
    MUST(cudaStreamEndCapture(state.one, graph));
    return NULL;
}

/* A thread that has begun to capture, and not ended it, computes. */
static void capture_ended_elsewhere(void) {
    graph_t graph;
    pthread_t thread;
    MUST(cudaStreamBeginCapture(state.one, 2));
    MUST(dsl_launch(1, state.one));
    pthread_create(&thread, NULL, end_capture, &graph);
    pthread_join(thread, NULL);
    MUST(cudaGraphDestroy(graph));
    compute_for_long(NULL);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "fork";
    prepare();
    if (!strcmp(mode, "manual"))
        run(build(3), ROUNDS);
    else if (!strcmp(mode, "child"))
        run(nest(), ROUNDS);
    else if (!strcmp(mode, "update"))
        update();
    else if (!strcmp(mode, "meanwhile"))
        capture_meanwhile();
    else if (!strcmp(mode, "ended-elsewhere"))
        capture_ended_elsewhere();
    else if (!strcmp(mode, "many"))
        many();
    else if (!strcmp(mode, "events"))
        events();
    else if (!strncmp(mode, "captured", 8)) { /* into a graph that is never launched */
        MUST(cudaGraphDestroy(!strcmp(mode, "captured-elsewhere") ? capture_elsewhere()
                              : !strcmp(mode, "captured-graph")   ? capture_graph()
                                                                  : capture()));
        copy_until_killed(!strcmp(mode, "captured-elsewhere") ? 2500 : 1600);
    } else if (!strcmp(mode, "long"))
        run(build(400), 6);
    else
        run(capture(), ROUNDS);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
