/* SPDX-License-Identifier: MIT
 *
 * Samples divide the self time of the context that they were taken in: a frame below it gets its
 * part of that time, by the CPU time of its samples. Nodes are made once, of all threads; then the
 * values of all, or of one thread, are collected into them.
 */
#include "tools/export/html/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/walk.h"

static uint32_t put_node(struct bp_graph *graph, uint32_t parent, uint32_t function,
                         enum bp_graph_kind kind, uint32_t context) {
    uint32_t key[2] = {parent, function};
    uint32_t contexts = graph->model->context_count;
    uint32_t number = contexts + bp_keys_put(&graph->table, key, sizeof(key));
    if (number == graph->count)
        *BP_APPEND(graph->nodes, graph->count) =
            (struct bp_graph_node){parent, function, kind, context};
    return number;
}

/* Frames of the stack within the context's function, outermost first, into `path`. Without that
 * function in the stack it is cut: then the innermost frame alone is known to be below it. */
static uint32_t frames_below(const struct bp_model *model, const struct bp_thread_stack *stack,
                             uint32_t *path) {
    uint32_t function = model->contexts[stack->context].function;
    uint32_t count = 0;
    for (uint32_t i = stack->stack; i != BP_NO_STACK && count < BP_WALK_DEEPEST;
         i = model->samples.stacks[i].parent) {
        if (model->samples.stacks[i].function == function)
            return count;
        path[count++] = model->samples.stacks[i].function;
    }
    return count > 0;
}

/* The node of a sampled stack; the context's own where its function was innermost. A function that
 * calls itself is one frame, as in the ledger. */
static uint32_t node_of_stack(struct bp_graph *graph, const struct bp_thread_stack *stack) {
    uint32_t path[BP_WALK_DEEPEST];
    uint32_t node = stack->context;
    for (uint32_t i = frames_below(graph->model, stack, path); i-- > 0;)
        if (graph->nodes[node].function != path[i])
            node = put_node(graph, node, path[i], BP_GRAPH_SAMPLED, stack->context);
    return node;
}

static uint32_t first_thread(uint32_t thread) {
    return thread == BP_ALL_THREADS ? 0 : thread;
}

static uint32_t last_thread(const struct bp_model *model, uint32_t thread) {
    return thread == BP_ALL_THREADS ? model->thread_count : thread + 1;
}

/* What a CUDA call took beside its own category is a node of its own below it. */
static void collect_splits(struct bp_graph *graph, const struct bp_thread_context *from,
                           double wall_rate) {
    const struct bp_function *function =
        &graph->model->functions[graph->model->contexts[from->context].function];
    for (uint32_t i = 0; i < BP_CATEGORIES; i++) {
        if (i == function->category || !(from->category_s[i] > 0))
            continue;
        uint32_t node =
            put_node(graph, from->context, BP_GRAPH_PSEUDO + i, BP_GRAPH_SPLIT, from->context);
        if (!graph->values)
            continue;
        graph->values[node][BP_GRAPH_THREAD] += from->category_s[i];
        graph->values[node][BP_GRAPH_WALL] += from->category_s[i] * wall_rate;
        graph->values[from->context][BP_GRAPH_THREAD] -= from->category_s[i];
        graph->values[from->context][BP_GRAPH_WALL] -= from->category_s[i] * wall_rate;
    }
}

/* As the wall was split: a thread's functions share its part of it, waits have none. */
static void collect_thread(struct bp_graph *graph, const struct bp_model_thread *thread) {
    double rate = thread->busy_s > 0 ? thread->wall_s / thread->busy_s : 0;
    for (uint32_t i = 0; i < thread->source->node_count; i++) {
        const struct bp_thread_context *from = &thread->contexts[i];
        const struct bp_model *model = graph->model;
        uint32_t function = model->contexts[from->context].function;
        double own_rate = model->functions[function].kind == BP_FUNC_WAIT ? 0 : rate;
        if (graph->values) {
            double *to = graph->values[from->context];
            to[BP_GRAPH_THREAD] += from->self_s;
            to[BP_GRAPH_WALL] += rate == 0 && i == 0 ? thread->wall_s : from->self_s * own_rate;
            to[BP_GRAPH_CALLS] += (double)from->calls;
            to[BP_GRAPH_BYTES] += (double)from->bytes;
        }
        collect_splits(graph, from, own_rate);
    }
}

/* The model's own sums have what threads do not: waits in which nobody was busy. */
static void collect_idle(struct bp_graph *graph) {
    for (uint32_t i = 0; i < graph->model->context_count; i++)
        graph->values[i][BP_GRAPH_WALL] += graph->model->contexts[i].idle_s;
}

static void move(double *from, double *to, double part) {
    for (int i = BP_GRAPH_WALL; i <= BP_GRAPH_THREAD; i++) {
        double value = from[i] * part;
        to[i] += value;
        from[i] -= value;
    }
}

/* Part of a context's own time for which it was not blocked. */
static double running_part(const struct bp_context *context) {
    return context->self_s > 0 ? 1 - context->blocked_s / context->self_s : 1;
}

/* `done` is what samples have of it already, per context. */
static void split_blocked(struct bp_graph *graph, const double *done) {
    const struct bp_model *model = graph->model;
    for (uint32_t i = 1; model->split.leads && i < model->context_count; i++) {
        double blocked = 1 - running_part(&model->contexts[i]);
        if (!(blocked > 0))
            continue;
        uint32_t node = put_node(graph, i, BP_GRAPH_BLOCKED, BP_GRAPH_SPLIT, i);
        if (graph->values && done[i] < 1)
            move(graph->values[i], graph->values[node], fmin(blocked / (1 - done[i]), 1));
    }
}

/* Divides the context's time, less what it was blocked for, by the CPU time of the samples. */
static void divide(struct bp_graph *graph, const double *cpu) {
    const struct bp_model *model = graph->model;
    double *all = bp_alloc(model->context_count + 1, sizeof(*all));
    double *left = bp_alloc(model->context_count + 1, sizeof(*left));
    for (uint32_t i = 0; i < graph->count; i++)
        all[i < model->context_count ? i : graph->nodes[i].context] += cpu[i];
    for (uint32_t i = 0; i < model->context_count; i++)
        left[i] = running_part(&model->contexts[i]);
    double *done = bp_alloc(model->context_count + 1, sizeof(*done));
    for (uint32_t i = model->context_count; i < graph->count; i++) {
        uint32_t context = graph->nodes[i].context;
        if (!(cpu[i] > 0) || !(left[context] > 0) || !graph->divided[context])
            continue;
        double part = left[context] * cpu[i] / all[context];
        move(graph->values[context], graph->values[i], part / (1 - done[context]));
        done[context] += part;
    }
    split_blocked(graph, done);
    free(all);
    free(left);
    free(done);
}

static void collect_stacks(struct bp_graph *graph, uint32_t thread) {
    const struct bp_model *model = graph->model;
    double *cpu = bp_alloc(graph->count + 1, sizeof(*cpu));
    for (uint32_t i = first_thread(thread); i < last_thread(model, thread); i++)
        for (uint32_t k = 0; k < model->threads[i].stack_count; k++) {
            const struct bp_thread_stack *stack = &model->threads[i].stacks[k];
            if (graph->divided[stack->context])
                cpu[node_of_stack(graph, stack)] += (double)stack->cpu_ns;
        }
    divide(graph, cpu);
    free(cpu);
}

static void collect(struct bp_graph *graph, uint32_t thread) {
    graph->values = bp_alloc(graph->count + 1, sizeof(*graph->values));
    for (uint32_t i = first_thread(thread); i < last_thread(graph->model, thread); i++)
        collect_thread(graph, &graph->model->threads[i]);
    if (thread == BP_ALL_THREADS)
        collect_idle(graph);
    collect_stacks(graph, thread);
}

double (*bp_graph_collect(struct bp_graph *graph, uint32_t thread))[BP_GRAPH_MEASURES] {
    double(*sums)[BP_GRAPH_MEASURES] = bp_alloc(graph->kept + 1, sizeof(*sums));
    collect(graph, thread);
    for (uint32_t i = 0; i < graph->count; i++)
        for (int k = 0; k < BP_GRAPH_MEASURES; k++)
            sums[graph->map[i]][k] += graph->values[i][k];
    free(graph->values);
    graph->values = NULL;
    return sums;
}

/* Fewer samples of a context's own time would make a picture of chance. */
#define FEWEST 5

static void find_divided(struct bp_graph *graph) {
    const struct bp_model *model = graph->model;
    uint64_t *samples = bp_alloc(model->context_count + 1, sizeof(*samples));
    for (uint32_t i = 0; i < model->thread_count; i++)
        for (uint32_t k = 0; k < model->threads[i].stack_count; k++)
            samples[model->threads[i].stacks[k].context] += model->threads[i].stacks[k].samples;
    for (uint32_t i = 0; i < model->context_count; i++)
        graph->divided[i] = samples[i] >= FEWEST;
    free(samples);
}

/* All nodes there will be: contexts, splits and sampled frames. */
static void make_nodes(struct bp_graph *graph) {
    const struct bp_model *model = graph->model;
    for (uint32_t i = 0; i < model->context_count; i++)
        *BP_APPEND(graph->nodes, graph->count) = (struct bp_graph_node){
            i ? model->contexts[i].parent : 0, model->contexts[i].function, BP_GRAPH_CONTEXT, i};
    find_divided(graph);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        collect_thread(graph, thread);
        for (uint32_t k = 0; k < thread->stack_count; k++)
            if (graph->divided[thread->stacks[k].context])
                node_of_stack(graph, &thread->stacks[k]);
    }
    split_blocked(graph, NULL);
}

struct rank {
    double share; /* the largest, of the run's sums: time, calls or bytes */
    uint32_t node;
};

static int compare_ranks(const void *a, const void *b) {
    const struct rank *x = a;
    const struct rank *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* A parent has at least the share of its children and a lower number: it comes first. */
static struct rank *rank_nodes(struct bp_graph *graph) {
    struct rank *ranks = bp_alloc(graph->count + 1, sizeof(*ranks));
    collect(graph, BP_ALL_THREADS);
    for (uint32_t i = graph->count; i-- > 1;)
        for (int k = 0; k < BP_GRAPH_MEASURES; k++)
            graph->values[graph->nodes[i].parent][k] += graph->values[i][k];
    for (uint32_t i = 0; i < graph->count; i++) {
        ranks[i].node = i;
        for (int k = 0; k < BP_GRAPH_MEASURES; k++) {
            double whole = graph->values[0][k];
            double share = whole > 0 ? graph->values[i][k] / whole : 0;
            ranks[i].share = share > ranks[i].share ? share : ranks[i].share;
        }
    }
    for (uint32_t i = graph->count; i-- > 1;) { /* a negative value may not put a child first */
        struct rank *parent = &ranks[graph->nodes[i].parent];
        parent->share = ranks[i].share > parent->share ? ranks[i].share : parent->share;
    }
    free(graph->values);
    graph->values = NULL;
    qsort(ranks, graph->count, sizeof(*ranks), compare_ranks);
    return ranks;
}

/* Numbers the kept nodes in the order of all; after them one for what is folded of a parent. */
static void keep_nodes(struct bp_graph *graph, uint32_t limit) {
    struct rank *ranks = rank_nodes(graph);
    bool *keep = bp_alloc(graph->count + 1, sizeof(*keep));
    uint32_t *folded = bp_alloc(graph->count + 1, sizeof(*folded));
    for (uint32_t i = 0; i < graph->count && i < limit; i++)
        keep[ranks[i].node] = true;
    graph->map = bp_alloc(graph->count + 1, sizeof(*graph->map));
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t parent = graph->nodes[i].parent;
        struct bp_graph_node node = graph->nodes[i];
        if (!keep[i] && keep[parent] && folded[parent])
            graph->map[i] = folded[parent];
        else if (!keep[i] && !keep[parent])
            graph->map[i] = graph->map[parent];
        else {
            graph->map[i] = graph->kept;
            node.parent = graph->map[parent];
            if (!keep[i]) {
                folded[parent] = graph->kept;
                node.kind = BP_GRAPH_FOLDED;
                node.function = 0;
            }
            *BP_APPEND(graph->kept_nodes, graph->kept) = node;
        }
        if (!keep[i]) {
            graph->kept_nodes[graph->map[i]].function++;
            graph->folded++;
        }
    }
    free(ranks);
    free(keep);
    free(folded);
}

void bp_graph_init(struct bp_graph *graph, const struct bp_model *model, uint32_t limit) {
    *graph = (struct bp_graph){.model = model};
    graph->divided = bp_alloc(model->context_count + 1, sizeof(*graph->divided));
    make_nodes(graph);
    keep_nodes(graph, limit > 0 ? limit : 1);
}

void bp_graph_fini(struct bp_graph *graph) {
    free(graph->nodes);
    free(graph->divided);
    free(graph->map);
    free(graph->kept_nodes);
    bp_keys_fini(&graph->table);
}
