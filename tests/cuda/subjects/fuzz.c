/* SPDX-License-Identifier: MIT
 *
 * Random work for a device: fuzz SEED MS THREADS. Copies of all kinds and sizes, kernels, graphs,
 * events, allocations and synchronisation, on three streams a thread, on as many devices as there
 * are. The same seed does the same, but for when it ends. It prints "ok", or what went wrong.
 */
#include <pthread.h>
#include <string.h>

#include "tests/cuda/subjects/kernels.h"
#include "tests/cuda/sim/cuda.h"

#define BYTES (8u << 20)
#define STREAMS 3
#define MOST_THREADS 3

struct worker {
    uint64_t random;
    int device, devices;
    char *host, *pinned, *memory, *other, *far, *managed;
    stream_t stream[STREAMS + 1]; /* the last is the default one */
    event_t event[STREAMS];
    graph_t graph;
    double end;
    pthread_t thread;
};

/* xorshift64*. */
static unsigned choose(struct worker *w, unsigned count) {
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (unsigned)((w->random * UINT64_C(2685821657736338717)) >> 33) % count;
}

/* From 64 bytes on, each power as often as the others. */
static size_t some_bytes(struct worker *w) {
    size_t size = (size_t)64 << choose(w, 18);
    size += choose(w, (unsigned)size);
    return size < BYTES ? size : BYTES;
}

static stream_t some_stream(struct worker *w) {
    return w->stream[choose(w, STREAMS + 1)];
}

static char *some_host(struct worker *w) {
    return choose(w, 2) ? w->pinned : w->host;
}

static void copy(struct worker *w) {
    char *host = some_host(w);
    size_t bytes = some_bytes(w);
    if (choose(w, 2))
        MUST(cudaMemcpy(w->memory, host, bytes, H2D));
    else
        MUST(cudaMemcpy(host, w->memory, bytes, D2H));
}

static void copy_async(struct worker *w) {
    char *host = some_host(w);
    size_t bytes = some_bytes(w);
    stream_t stream = some_stream(w);
    if (choose(w, 2))
        MUST(cudaMemcpyAsync(w->memory, host, bytes, H2D, stream));
    else
        MUST(cudaMemcpyAsync(host, w->memory, bytes, D2H, stream));
}

static void copy_rows(struct worker *w) {
    size_t width = 100 + choose(w, 4000), height = 1 + choose(w, 500);
    MUST(
        cudaMemcpy2DAsync(w->memory, 8192, some_host(w), 4608, width, height, H2D, some_stream(w)));
}

static void copy_within(struct worker *w) {
    MUST(cudaMemcpyAsync(w->other, w->memory, some_bytes(w), D2D, some_stream(w)));
}

static void copy_to_peer(struct worker *w) {
    if (w->devices > 1)
        MUST(cudaMemcpyPeer(w->far, !w->device, w->memory, w->device, some_bytes(w)));
}

static void fill(struct worker *w) {
    MUST(cudaMemset(w->other, 1, some_bytes(w)));
}

static int launch(struct worker *w, stream_t stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    unsigned which = choose(w, 4);
    if (which == 0)
        return dsl_launch_short(stream);
    if (which == 1)
        return dsl_launch((int)(1 + choose(w, 4)), stream);
    return cudaLaunchKernel(kernel_stub((int)(1 + choose(w, 3))), one, one, NULL, 0, stream);
}

static void compute(struct worker *w) {
    MUST(launch(w, some_stream(w)));
}

static void join(struct worker *w) {
    event_t event = w->event[choose(w, STREAMS)];
    MUST(cudaEventRecord(event, some_stream(w)));
    MUST(cudaStreamWaitEvent(some_stream(w), event, 0));
    if (choose(w, 3) == 0)
        MUST(cudaEventSynchronize(event));
}

static void synchronize(struct worker *w) {
    if (choose(w, 4) == 0)
        MUST(cudaDeviceSynchronize());
    else
        MUST(cudaStreamSynchronize(some_stream(w)));
}

static void query(struct worker *w) {
    int error = cudaStreamQuery(some_stream(w));
    CHECK(error == 0 || error == cudaErrorNotReady, "error %d", error);
}

static void allocate(struct worker *w) {
    void *memory;
    stream_t stream = some_stream(w);
    if (choose(w, 3)) {
        MUST(cudaMallocAsync(&memory, some_bytes(w), stream));
        MUST(cudaMemcpyAsync(memory, w->pinned, 1000, H2D, stream));
        MUST(cudaFreeAsync(memory, stream));
    } else {
        MUST(cudaMalloc(&memory, some_bytes(w)));
        MUST(cudaFree(memory));
    }
}

static void think(struct worker *w) {
    double end = now_ms() + choose(w, 20) / 10.0;
    while (now_ms() < end)
        continue;
}

/* Two streams of its own, so that others can go on beside it. */
static graph_t capture(struct worker *w) {
    graph_t graph, executable;
    stream_t one = w->stream[0], two = w->stream[1];
    MUST(cudaStreamBeginCapture(one, 1));
    MUST(launch(w, one));
    MUST(cudaEventRecord(w->event[0], one));
    MUST(cudaStreamWaitEvent(two, w->event[0], 0));
    MUST(cudaMemcpyAsync(w->memory, some_host(w), some_bytes(w), H2D, two));
    MUST(launch(w, one));
    MUST(cudaEventRecord(w->event[1], two));
    MUST(cudaStreamWaitEvent(one, w->event[1], 0));
    MUST(cudaMemcpyAsync(w->pinned, w->memory, some_bytes(w), D2H, one));
    MUST(cudaStreamEndCapture(one, &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaEventRecord(w->event[0], one)); /* captured ones cannot be waited for */
    MUST(cudaEventRecord(w->event[1], one));
    return executable;
}

static void graph(struct worker *w) {
    if (!w->graph || choose(w, 8) == 0) {
        if (w->graph)
            MUST(cudaGraphExecDestroy(w->graph));
        w->graph = capture(w);
    }
    MUST(cudaGraphLaunch(w->graph, some_stream(w)));
}

/* Pages that are asked for, used by a kernel, or touched by the host. */
static void migrate(struct worker *w) {
    stream_t stream = some_stream(w);
    switch (choose(w, 4)) {
    case 0:
        MUST(PREFETCH(w->managed, some_bytes(w), w->device, stream));
        break;
    case 1:
        MUST(PREFETCH(w->managed, some_bytes(w), -1, stream));
        break;
    case 2:
        MUST(dsl_use(w->managed, stream));
        break;
    default:
        MUST(cudaStreamSynchronize(stream));
        bp_sim_touch(w->managed, some_bytes(w) / 16 + 1);
    }
}

static void (*const steps[])(struct worker *) = {
    copy,        copy,    copy_async, copy_async, copy_async, copy_rows, copy_within, copy_to_peer,
    fill,        compute, compute,    compute,    join,       join,      synchronize, synchronize,
    synchronize, query,   allocate,   think,      think,      graph,     graph,       migrate,
};

static void prepare(struct worker *w) {
    if (w->devices > 1) {
        MUST(cudaSetDevice(!w->device));
        MUST(cudaMalloc((void **)&w->far, BYTES));
    }
    MUST(cudaSetDevice(w->device));
    w->host = malloc(BYTES);
    memset(w->host, 1, BYTES);
    MUST(cudaMallocHost((void **)&w->pinned, BYTES));
    MUST(cudaMalloc((void **)&w->memory, BYTES));
    MUST(cudaMalloc((void **)&w->other, BYTES));
    MUST(cudaMallocManaged((void **)&w->managed, BYTES, 1));
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaStreamCreateWithFlags(&w->stream[i], i < 2));
        MUST(cudaEventCreate(&w->event[i]));
    }
}

static void *work(void *data) {
    struct worker *w = data;
    prepare(w);
    while (now_ms() < w->end)
        steps[choose(w, sizeof steps / sizeof *steps)](w);
    MUST(cudaDeviceSynchronize());
    return NULL;
}

int main(int argc, char **argv) {
    static struct worker workers[MOST_THREADS];
    int count = 1, threads = argc > 3 ? atoi(argv[3]) : 1;
    double end = now_ms() + (argc > 2 ? atof(argv[2]) : 300);
    MUST(cudaGetDeviceCount(&count));
    for (int i = 0; i < threads && i < MOST_THREADS; i++) {
        workers[i] = (struct worker){.random = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) * 4 +
                                               (uint64_t)i + 1,
                                     .device = i % count,
                                     .devices = count,
                                     .end = end};
        for (int k = 0; k < 9; k++)
            choose(&workers[i], 2);
        if (i > 0)
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    work(&workers[0]);
    for (int i = 1; i < threads && i < MOST_THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
