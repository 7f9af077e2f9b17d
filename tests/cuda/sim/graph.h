/* SPDX-License-Identifier: MIT
 *
 * What the tests of graphs share: declarations of the runtime, three kernels that compute, streams,
 * events and memory, and CUPTI's records of what was done.
 */
#ifndef BP_TESTS_SIM_GRAPH_H
#define BP_TESTS_SIM_GRAPH_H

#include <stdbool.h>
#include <string.h>

#include "cuda/copy.h"
#include "cuda/sim/cupti/records.h"
#include "tests/cuda/sim/cuda.h"

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

static inline void request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = aligned_alloc(8, 1 << 16);
    *size = 1 << 16;
    *max_records = 0;
}

static inline void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid) {
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

static inline const struct work *find(const char *name) {
    for (unsigned i = 0; i < seen.count; i++)
        if (!strcmp(seen.works[i].name, name))
            return &seen.works[i];
    CHECK(false, "no record of %s", name);
    return &seen.works[MOST - 1];
}

static inline void forget(void) {
    MUST(cudaDeviceSynchronize());
    MUST(cuptiActivityFlushAll(1));
    seen.count = 0;
}

static inline void check_after(const char *first, const char *second) {
    CHECK(find(second)->start >= find(first)->end, "%s began before %s was over", second, first);
}

static inline void check_beside(const char *first, const char *second) {
    const struct work *a = find(first), *b = find(second);
    CHECK_TIME(a->start < b->end && b->start < a->end, "%s and %s ran one after the other", first,
               second);
    CHECK(a->stream != b->stream, "%s and %s have one stream", first, second);
}

/* All pieces are nodes of one graph, each its own, and of one call. */
static inline void check_nodes(unsigned count) {
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

static inline void add(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], k = *(int *)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] += k;
}
static inline void multiply(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], k = *(int *)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] *= k;
}
static inline void sum(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], *others = *(int **)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] += others[i];
}

static inline int launch(bp_sim_run run, void *values, void *second, stream_t stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    void *args[] = {&values, &second};
    return cudaLaunchKernel((const void *)run, one, one, args, 0, stream);
}

static inline void prepare(void) {
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

static inline int add_kernel(node_t *node, graph_t graph, const node_t *after, size_t count,
                             bp_sim_run run, void *values, void *second) {
    void *args[] = {&values, &second};
    struct kernel_node parameters = {(const void *)run, {1, 1, 1}, {1, 1, 1}, 0, args, NULL};
    return cudaGraphAddKernelNode(node, graph, after, count, &parameters);
}

#endif
