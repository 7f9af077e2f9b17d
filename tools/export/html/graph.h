/* SPDX-License-Identifier: MIT
 *
 * The calling contexts of a model as a tree with the sampled frames in it: what the page's graph
 * draws. A node comes after its parent. Values are a node's own, so sums over all nodes are those
 * of the run whatever was folded away.
 */
#ifndef BP_TOOLS_EXPORT_HTML_GRAPH_H
#define BP_TOOLS_EXPORT_HTML_GRAPH_H

#include "tools/base/keys.h"
#include "tools/model/model.h"

enum bp_graph_measure {
    BP_GRAPH_WALL,   /* seconds of the wall split, with the waits in which nobody was busy */
    BP_GRAPH_THREAD, /* thread-seconds */
    BP_GRAPH_CALLS,
    BP_GRAPH_BYTES, /* copied between host and device */
    BP_GRAPH_MEASURES
};

enum bp_graph_kind {
    BP_GRAPH_CONTEXT, /* exact: of the ledger */
    BP_GRAPH_SAMPLED, /* a frame that samples found in the context above it: an estimate */
    BP_GRAPH_SPLIT,   /* what a CUDA call waited for; `function` is BP_GRAPH_PSEUDO + category, or
                         BP_GRAPH_BLOCKED */
    BP_GRAPH_FOLDED   /* all the small nodes below its parent; `function` is their number */
};

/* Above every number of a function. */
#define BP_GRAPH_PSEUDO 0xf0000000u
/* Off the CPU in no call that battprof sees: waiting, where the headline is by whose code it was.
 */
#define BP_GRAPH_BLOCKED (BP_GRAPH_PSEUDO + 4)

struct bp_graph_node {
    uint32_t parent; /* of node 0 its own number: it stands above the roots */
    uint32_t function;
    enum bp_graph_kind kind;
    uint32_t context; /* that a frame or split is in */
};

struct bp_graph {
    const struct bp_model *model;
    struct bp_graph_node *nodes; /* first the contexts, by their numbers in the model */
    uint32_t count;
    struct bp_keys table;                /* of the nodes beyond the contexts */
    bool *divided;                       /* per context: samples divide its time */
    double (*values)[BP_GRAPH_MEASURES]; /* per node: what was collected last */
    uint32_t *map;                       /* per node: its number among the kept ones */
    uint32_t kept;                       /* nodes that are kept, and the folded ones */
    struct bp_graph_node *kept_nodes;
    uint32_t folded; /* nodes that are in no node of their own */
};

/* At most `limit` nodes are kept, the largest ones. */
void bp_graph_init(struct bp_graph *graph, const struct bp_model *model, uint32_t limit);
void bp_graph_fini(struct bp_graph *graph);

/* Values of a thread, an index in the model, or of BP_ALL_THREADS, by kept node: a new array. */
double (*bp_graph_collect(struct bp_graph *graph, uint32_t thread))[BP_GRAPH_MEASURES];

#endif
