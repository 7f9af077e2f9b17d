/* SPDX-License-Identifier: MIT
 *
 * libcudart: the shape of graphs. See runtime_graph.c about data of edges; here an edge has none.
 */
#include <stdio.h>
#include <string.h>

#include "cuda/sim/runtime/runtime.h"

#define EDGE_DATA 8 /* bytes for each edge */
#define MOST_EDGES 4096

typedef struct bp_sim_graph *bp_graph;
typedef struct bp_sim_node *bp_node;

API int cudaGraphGetNodes(bp_graph graph, bp_node *nodes, size_t *count) {
    CALL(cudaGraphGetNodes, bp_sim_graph_nodes(graph, nodes, count, false));
}

API int cudaGraphGetRootNodes(bp_graph graph, bp_node *nodes, size_t *count) {
    CALL(cudaGraphGetRootNodes, bp_sim_graph_nodes(graph, nodes, count, true));
}

#if BP_SIM_CUDA >= 12
/* After the number is known. */
static int clear_data(int error, void *data, const size_t *count) {
    if (!error && data && count)
        memset(data, 0, *count * EDGE_DATA);
    return error;
}
#endif

static bool is_plain(const char *data, size_t count) {
    bool plain = true;
    for (size_t i = 0; data && i < count * EDGE_DATA; i++)
        plain = plain && !data[i];
    return plain;
}

static int depend(bp_graph graph, bp_node *from, bp_node *to, const void *data, size_t count,
                  bool on) {
    if (!is_plain(data, count))
        return cudaErrorNotSupported;
    return bp_sim_graph_depend(graph, from, to, count, on);
}

#define DEPENDENCIES(name, on)                                                                     \
    API int name(bp_graph graph, bp_node *from, bp_node *to, size_t count) {                       \
        CALL(name, depend(graph, from, to, NULL, count, on));                                      \
    }
#define DEPENDENCIES_WITH_DATA(name, on)                                                           \
    API int name(bp_graph graph, bp_node *from, bp_node *to, const void *data, size_t count) {     \
        CALL(name, depend(graph, from, to, data, count, on));                                      \
    }
#define NEIGHBOURS(name, before)                                                                   \
    API int name(bp_node node, bp_node *nodes, size_t *count) {                                    \
        CALL(name, bp_sim_node_neighbours(node, nodes, count, before));                            \
    }
#define NEIGHBOURS_WITH_DATA(name, before)                                                         \
    API int name(bp_node node, bp_node *nodes, void *data, size_t *count) {                        \
        CALL(name, clear_data(bp_sim_node_neighbours(node, nodes, count, before), data, count));   \
    }
#define EDGES_WITH_DATA(name)                                                                      \
    API int name(bp_graph graph, bp_node *from, bp_node *to, void *data, size_t *count) {          \
        CALL(name, clear_data(bp_sim_graph_edges(graph, from, to, count), data, count));           \
    }

#if BP_SIM_CUDA >= 13
DEPENDENCIES_WITH_DATA(cudaGraphAddDependencies, true)
DEPENDENCIES_WITH_DATA(cudaGraphRemoveDependencies, false)
NEIGHBOURS_WITH_DATA(cudaGraphNodeGetDependencies, true)
NEIGHBOURS_WITH_DATA(cudaGraphNodeGetDependentNodes, false)
EDGES_WITH_DATA(cudaGraphGetEdges)
#else
DEPENDENCIES(cudaGraphAddDependencies, true)
DEPENDENCIES(cudaGraphRemoveDependencies, false)
NEIGHBOURS(cudaGraphNodeGetDependencies, true)
NEIGHBOURS(cudaGraphNodeGetDependentNodes, false)
API int cudaGraphGetEdges(bp_graph graph, bp_node *from, bp_node *to, size_t *count) {
    CALL(cudaGraphGetEdges, bp_sim_graph_edges(graph, from, to, count));
}
#endif
#if BP_SIM_CUDA == 12
DEPENDENCIES_WITH_DATA(cudaGraphAddDependencies_v2, true)
DEPENDENCIES_WITH_DATA(cudaGraphRemoveDependencies_v2, false)
NEIGHBOURS_WITH_DATA(cudaGraphNodeGetDependencies_v2, true)
NEIGHBOURS_WITH_DATA(cudaGraphNodeGetDependentNodes_v2, false)
EDGES_WITH_DATA(cudaGraphGetEdges_v2)
#endif

API int cudaGraphDestroyNode(bp_node node) {
    CALL(cudaGraphDestroyNode, node ? bp_sim_node_free(node) : cudaErrorInvalidValue);
}

API int cudaGraphNodeGetType(bp_node node, int *type) {
    *type = node ? (int)bp_sim_node_content(node)->type : 0;
    CALL(cudaGraphNodeGetType, node ? 0 : cudaErrorInvalidValue);
}

API int cudaGraphNodeFindInClone(bp_node *found, bp_node node, bp_graph clone) {
    *found = bp_sim_graph_find(clone, node);
    CALL(cudaGraphNodeFindInClone, *found ? 0 : cudaErrorInvalidValue);
}

static const char *type_name(bp_node node) {
    static const char *const names[] = {"KERNEL", "MEMCPY", "MEMSET",     "HOST",
                                        "GRAPH",  "EMPTY",  "EVENT_WAIT", "EVENT_RECORD",
                                        "",       "",       "MEM_ALLOC",  "MEM_FREE"};
    return names[bp_sim_node_content(node)->type];
}

static void print_nodes(FILE *file, bp_graph graph) {
    bp_node nodes[MOST_EDGES];
    size_t count = MOST_EDGES;
    bp_sim_graph_nodes(graph, nodes, &count, false);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "\"%p\" [label=\"%s\"];\n", (void *)nodes[i], type_name(nodes[i]));
}

/* A plain picture, whatever the flags ask for. */
static int print(bp_graph graph, const char *path) {
    bp_node from[MOST_EDGES], to[MOST_EDGES];
    size_t count = MOST_EDGES;
    FILE *file = graph && path ? fopen(path, "w") : NULL;
    if (!file)
        return cudaErrorInvalidValue;
    fprintf(file, "digraph graph_1 {\n");
    print_nodes(file, graph);
    bp_sim_graph_edges(graph, from, to, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "\"%p\" -> \"%p\";\n", (void *)from[i], (void *)to[i]);
    fprintf(file, "}\n");
    return fclose(file) ? cudaErrorUnknown : 0;
}

API int cudaGraphDebugDotPrint(bp_graph graph, const char *path, unsigned flags) {
    (void)flags;
    CALL(cudaGraphDebugDotPrint, print(graph, path));
}
