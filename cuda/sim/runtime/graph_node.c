/* SPDX-License-Identifier: MIT
 *
 * libcudart: what nodes of graphs do. A node is added, or changed, by the call that would do its
 * work, while the thread records. Of each kind of node there are four functions: add, get, set, and
 * set within an executable graph.
 */
#include "cuda/sim/runtime/runtime.h"

typedef struct bp_sim_graph *bp_graph;
typedef struct bp_sim_node *bp_node;

/* Where recorded work goes: a new node of a graph, or one that exists. */
struct place {
    bp_node *added;
    bp_graph graph;
    struct bp_sim_nodes after;
    bp_node node;
};
#define NODE bp_node *node, bp_graph graph, bp_node *after, size_t count
#define NEW (&(struct place){node, graph, {after, count}, NULL})
#define EXISTING (&(struct place){.node = node})
#define EXECUTABLE (&(struct place){.node = bp_sim_graph_find(executable, node)})

static int begin(const struct place *place) {
    return place->graph || !place->node ? bp_sim_record_begin(place->graph, &place->after)
                                        : bp_sim_record_again(place->node);
}
/* With `submit` between, which finds that the thread records. */
static int end(const struct place *place, int error, int submitted) {
    return bp_sim_record_end(place->added, error ? error : submitted);
}
#define RECORD(submit)                                                                             \
    int error = begin(place);                                                                      \
    return end(place, error, error ? 0 : (submit))

/* parameters: of the work; get: fills them from a node's content. */
#define FUNCTIONS(kind, type, record, get)                                                         \
    API int cudaGraphAdd##kind(NODE, const type *parameters) {                                     \
        CALL(cudaGraphAdd##kind, record(NEW, parameters));                                         \
    }                                                                                              \
    API int cudaGraph##kind##GetParams(bp_node node, type *parameters) {                           \
        CALL(cudaGraph##kind##GetParams, get(bp_sim_node_content(node), parameters));              \
    }                                                                                              \
    API int cudaGraph##kind##SetParams(bp_node node, const type *parameters) {                     \
        CALL(cudaGraph##kind##SetParams, record(EXISTING, parameters));                            \
    }                                                                                              \
    API int cudaGraphExec##kind##SetParams(bp_graph executable, bp_node node,                      \
                                           const type *parameters) {                               \
        CALL(cudaGraphExec##kind##SetParams, record(EXECUTABLE, parameters));                      \
    }

struct kernel_node {
    const void *stub;
    struct bp_sim_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
};

static int record_kernel(const struct place *place, const struct kernel_node *p) {
    struct bp_sim_launch launch = {p->stub, p->grid, p->block, p->shared, p->args};
    RECORD(bp_sim_launch(&launch, NULL));
}

static int get_kernel(const struct bp_sim_content *content, struct kernel_node *to) {
    const struct bp_sim_launch *l = bp_sim_content_launch(content);
    if (!l)
        return cudaErrorInvalidValue;
    *to = (struct kernel_node){l->stub, l->grid, l->block, (unsigned)l->shared, l->args, NULL};
    return 0;
}

FUNCTIONS(KernelNode, struct kernel_node, record_kernel, get_kernel)

static int record_copy(const struct place *place, struct bp_sim_copy *copy) {
    copy->async = true;
    RECORD(bp_sim_copy(copy, NULL));
}

static int record_copy_3d(const struct place *place, const struct bp_cuda_copy3d *p) {
    struct bp_sim_copy copy;
    int error = bp_sim_copy_of_3d(&copy, p);
    return error ? error : record_copy(place, &copy);
}

static struct bp_cuda_pitched side(const char *pointer, size_t pitch, size_t slice, size_t width) {
    return (struct bp_cuda_pitched){(char *)pointer, pitch, width, pitch ? slice / pitch : 1};
}

static int get_copy(const struct bp_sim_content *content, struct bp_cuda_copy3d *to) {
    const struct bp_sim_copy *c = bp_sim_content_copy(content);
    if (!c)
        return cudaErrorInvalidValue;
    *to = (struct bp_cuda_copy3d){
        .source = side(c->source, c->source_pitch, c->source_slice, c->width),
        .target = side(c->target, c->target_pitch, c->target_slice, c->width),
        .size = {c->width, c->height, c->depth},
        .kind = c->direction};
    return 0;
}

FUNCTIONS(MemcpyNode, struct bp_cuda_copy3d, record_copy_3d, get_copy)

#define COPY_1D void *target, const void *source, size_t size, int kind

API int cudaGraphAddMemcpyNode1D(NODE, COPY_1D) {
    struct bp_sim_copy copy = bp_sim_row(target, source, size, kind, true);
    CALL(cudaGraphAddMemcpyNode1D, record_copy(NEW, &copy));
}

API int cudaGraphMemcpyNodeSetParams1D(bp_node node, COPY_1D) {
    struct bp_sim_copy copy = bp_sim_row(target, source, size, kind, true);
    CALL(cudaGraphMemcpyNodeSetParams1D, record_copy(EXISTING, &copy));
}

API int cudaGraphExecMemcpyNodeSetParams1D(bp_graph executable, bp_node node, COPY_1D) {
    struct bp_sim_copy copy = bp_sim_row(target, source, size, kind, true);
    CALL(cudaGraphExecMemcpyNodeSetParams1D, record_copy(EXECUTABLE, &copy));
}

struct set_node {
    char *target;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

static int record_set(const struct place *place, const struct set_node *p) {
    struct bp_sim_set set = {p->target, p->pitch,  p->width * p->element, p->height, p->value,
                             true,      p->element};
    if (p->element != 1 && p->element != 2 && p->element != 4)
        return cudaErrorInvalidValue;
    RECORD(bp_sim_set(&set, NULL));
}

static int get_set(const struct bp_sim_content *content, struct set_node *to) {
    const struct bp_sim_set *s = bp_sim_content_set(content);
    if (!s)
        return cudaErrorInvalidValue;
    unsigned element = s->element ? s->element : 1;
    *to = (struct set_node){s->target, s->pitch, s->value, element, s->width / element, s->height};
    return 0;
}

FUNCTIONS(MemsetNode, struct set_node, record_set, get_set)

struct host_node {
    void (*function)(void *);
    void *data;
};

static int record_host(const struct place *place, const struct host_node *p) {
    RECORD(bp_sim_host_function(p->function, p->data, NULL));
}

static int get_host(const struct bp_sim_content *content, struct host_node *to) {
    return bp_sim_content_host(content, &to->function, &to->data) ? 0 : cudaErrorInvalidValue;
}

FUNCTIONS(HostNode, struct host_node, record_host, get_host)

static int add(NODE, enum bp_sim_node_type type, bp_graph child, struct bp_sim_event *event) {
    const struct bp_sim_content content = {.type = type, .child = child, .event = event};
    bool lacks = (type == BP_SIM_NODE_WAIT || type == BP_SIM_NODE_RECORD) && !event;
    const struct bp_sim_nodes nodes = {after, count};
    return lacks ? cudaErrorInvalidValue : bp_sim_graph_add_node(graph, &content, &nodes, node);
}

API int cudaGraphAddEmptyNode(NODE) {
    CALL(cudaGraphAddEmptyNode, add(node, graph, after, count, BP_SIM_NODE_EMPTY, NULL, NULL));
}

API int cudaGraphAddChildGraphNode(NODE, bp_graph child) {
    CALL(cudaGraphAddChildGraphNode,
         add(node, graph, after, count, BP_SIM_NODE_GRAPH, child, NULL));
}

static int get_child(bp_node node, bp_graph *child) {
    *child = node ? bp_sim_node_content(node)->child : NULL;
    return *child ? 0 : cudaErrorInvalidValue;
}

API int cudaGraphChildGraphNodeGetGraph(bp_node node, bp_graph *child) {
    CALL(cudaGraphChildGraphNodeGetGraph, get_child(node, child));
}

API int cudaGraphExecChildGraphNodeSetParams(bp_graph executable, bp_node node, bp_graph child) {
    CALL(cudaGraphExecChildGraphNodeSetParams,
         bp_sim_node_set_child(bp_sim_graph_find(executable, node), child));
}

static int set_event(bp_node node, enum bp_sim_node_type type, struct bp_sim_event *event) {
    struct bp_sim_content *content = node ? bp_sim_node_content(node) : NULL;
    if (!content || content->type != type || !event)
        return cudaErrorInvalidValue;
    content->event = event;
    return 0;
}

static int get_event(bp_node node, enum bp_sim_node_type type, struct bp_sim_event **event) {
    struct bp_sim_content *content = node ? bp_sim_node_content(node) : NULL;
    if (!content || content->type != type)
        return cudaErrorInvalidValue;
    *event = content->event;
    return 0;
}

#define EVENT_FUNCTIONS(kind, type)                                                                \
    API int cudaGraphAdd##kind(NODE, struct bp_sim_event *event) {                                 \
        CALL(cudaGraphAdd##kind, add(node, graph, after, count, type, NULL, event));               \
    }                                                                                              \
    API int cudaGraph##kind##GetEvent(bp_node node, struct bp_sim_event **event) {                 \
        CALL(cudaGraph##kind##GetEvent, get_event(node, type, event));                             \
    }                                                                                              \
    API int cudaGraph##kind##SetEvent(bp_node node, struct bp_sim_event *event) {                  \
        CALL(cudaGraph##kind##SetEvent, set_event(node, type, event));                             \
    }                                                                                              \
    API int cudaGraphExec##kind##SetEvent(bp_graph executable, bp_node node,                       \
                                          struct bp_sim_event *event) {                            \
        CALL(cudaGraphExec##kind##SetEvent,                                                        \
             set_event(bp_sim_graph_find(executable, node), type, event));                         \
    }
EVENT_FUNCTIONS(EventRecordNode, BP_SIM_NODE_RECORD)
EVENT_FUNCTIONS(EventWaitNode, BP_SIM_NODE_WAIT)

struct allocation_node {
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    void *memory;
};

static int add_allocation(NODE, struct allocation_node *p) {
    const struct bp_sim_nodes nodes = {after, count};
    int error = bp_sim_allocate(&p->memory, p->bytes, BP_SIM_DEVICE);
    const struct bp_sim_content content = {
        .type = BP_SIM_NODE_ALLOCATION, .memory = p->memory, .bytes = p->bytes};
    return error ? error : bp_sim_graph_add_node(graph, &content, &nodes, node);
}

API int cudaGraphAddMemAllocNode(NODE, struct allocation_node *parameters) {
    CALL(cudaGraphAddMemAllocNode, add_allocation(node, graph, after, count, parameters));
}

static int add_release(NODE, void *memory) {
    const struct bp_sim_nodes nodes = {after, count};
    const struct bp_sim_content content = {.type = BP_SIM_NODE_RELEASE, .memory = memory};
    return memory ? bp_sim_graph_add_node(graph, &content, &nodes, node) : cudaErrorInvalidValue;
}

API int cudaGraphAddMemFreeNode(NODE, void *memory) {
    CALL(cudaGraphAddMemFreeNode, add_release(node, graph, after, count, memory));
}

/* CUDA 12 has one function for all kinds. */
#if BP_SIM_CUDA >= 12
struct any_node {
    int type, reserved[3];
    union {
        struct kernel_node kernel;
        struct {
            int flags, reserved[3];
            struct bp_cuda_copy3d parameters;
        } copy;
        struct set_node set;
        struct host_node host;
        bp_graph child;
        struct bp_sim_event *event;
        int64_t room[29];
    };
    int64_t reserved_too;
};

static int record_any(const struct place *place, const struct any_node *p) {
    switch (p->type) {
    case BP_SIM_NODE_KERNEL:
        return record_kernel(place, &p->kernel);
    case BP_SIM_NODE_COPY:
        return record_copy_3d(place, &p->copy.parameters);
    case BP_SIM_NODE_SET:
        return record_set(place, &p->set);
    case BP_SIM_NODE_HOST:
        return record_host(place, &p->host);
    default:
        return cudaErrorNotSupported;
    }
}

static int add_any(NODE, const struct any_node *p) {
    bool event = p->type == BP_SIM_NODE_WAIT || p->type == BP_SIM_NODE_RECORD;
    bool child = p->type == BP_SIM_NODE_GRAPH;
    if (event || child || p->type == BP_SIM_NODE_EMPTY)
        return add(node, graph, after, count, (enum bp_sim_node_type)p->type,
                   child ? p->child : NULL, event ? p->event : NULL);
    return record_any(NEW, p);
}

static int set_any(bp_node node, const struct any_node *p) {
    if (p->type == BP_SIM_NODE_WAIT || p->type == BP_SIM_NODE_RECORD)
        return set_event(node, (enum bp_sim_node_type)p->type, p->event);
    if (p->type == BP_SIM_NODE_GRAPH)
        return bp_sim_node_set_child(node, p->child);
    return record_any(EXISTING, p);
}

#    define NODE_WITH_DATA                                                                         \
        bp_node *node, bp_graph graph, bp_node *after, const void *data, size_t count
#    if BP_SIM_CUDA == 12
API int cudaGraphAddNode(NODE, const struct any_node *parameters) {
    CALL(cudaGraphAddNode, add_any(node, graph, after, count, parameters));
}
API int cudaGraphAddNode_v2(NODE_WITH_DATA, const struct any_node *parameters) {
    (void)data;
    CALL(cudaGraphAddNode_v2, add_any(node, graph, after, count, parameters));
}
#    else
API int cudaGraphAddNode(NODE_WITH_DATA, const struct any_node *parameters) {
    (void)data;
    CALL(cudaGraphAddNode, add_any(node, graph, after, count, parameters));
}
#    endif
API int cudaGraphNodeSetParams(bp_node node, const struct any_node *parameters) {
    CALL(cudaGraphNodeSetParams, set_any(node, parameters));
}
API int cudaGraphExecNodeSetParams(bp_graph executable, bp_node node,
                                   const struct any_node *parameters) {
    CALL(cudaGraphExecNodeSetParams, set_any(bp_sim_graph_find(executable, node), parameters));
}
#endif
