/* SPDX-License-Identifier: MIT
 *
 * Totals under recursion. Where a() calls b() and b() calls a(), the inner a() is counted on the
 * node of the outer one (interpose/ledger/node.c), so part of the time in which b() was open is not
 * below b()'s node. The file has that part of the whole run, in the node's total. Whatever else is
 * summed up along the tree, the profiler's cost or the time of one task, takes the same part.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"

static void sum_up(const struct bp_profile_thread *source, double *value) {
    for (uint32_t i = source->node_count; i-- > 1;)
        value[source->nodes[i].parent] += value[i];
}

/* Nodes that took inner calls, ended or open. */
static bool *find_recursive(const struct bp_profile_thread *source) {
    bool *recursive = bp_alloc(source->node_count, sizeof(*recursive));
    for (uint32_t i = 1; i < source->node_count; i++)
        recursive[i] = source->nodes[i].inner > 0;
    for (uint32_t i = 0; i < source->open_count; i++)
        if (!source->open[i].outermost)
            recursive[source->open[i].node] = true;
    return recursive;
}

void bp_model_find_recursion(struct bp_thread_work *work, const struct bp_profile_thread *source,
                             const double *self, const double *total) {
    uint32_t count = source->node_count;
    bool *recursive = find_recursive(source);
    double *below = bp_alloc(count, sizeof(*below));
    work->around = bp_alloc(count, sizeof(*work->around));
    work->beyond = bp_alloc(count, sizeof(*work->beyond));
    for (uint32_t i = 0; i < count; i++)
        below[i] = self[i];
    sum_up(source, below);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t parent = source->nodes[i].parent;
        uint32_t around = work->around[parent];
        work->around[i] = around == 0 && recursive[parent] ? parent : around;
        double rest = below[work->around[i]] - below[i];
        if (work->around[i] > 0 && rest > 0 && total[i] > below[i])
            work->beyond[i] = fmin((total[i] - below[i]) / rest, 1);
    }
    free(recursive);
    free(below);
}

/* Per function of the model: several functions of the file, as all that match "solve_*", are it. */
static bool *find_shared(const struct bp_thread_work *work, const struct bp_profile_thread *source,
                         uint32_t function_count) {
    bool *shared = bp_alloc(function_count, sizeof(*shared));
    uint32_t *first = bp_alloc(function_count, sizeof(*first)); /* of the file, + 1 */
    for (uint32_t i = 0; i < source->node_count; i++) {
        uint32_t function = work->function[i];
        uint32_t func = source->nodes[i].func + 1;
        shared[function] |= first[function] && first[function] != func;
        first[function] = func;
    }
    free(first);
    return shared;
}

bool *bp_model_find_nested(const struct bp_thread_work *work,
                           const struct bp_profile_thread *source, uint32_t function_count) {
    bool *shared = find_shared(work, source, function_count);
    bool *nested = bp_alloc(source->node_count, sizeof(*nested));
    for (uint32_t i = 1; i < source->node_count; i++) {
        uint32_t outer = source->nodes[i].parent;
        if (!shared[work->function[i]])
            continue;
        while (outer && work->function[outer] != work->function[i])
            outer = source->nodes[outer].parent;
        nested[i] = outer > 0;
    }
    free(shared);
    return nested;
}

void bp_model_sum_open(const struct bp_thread_work *work, const struct bp_profile_thread *source,
                       double *value) {
    sum_up(source, value);
    for (uint32_t i = source->node_count; i-- > 1;)
        if (work->beyond[i] > 0)
            value[i] += work->beyond[i] * (value[work->around[i]] - value[i]);
}

void bp_model_sum_contexts(struct bp_model *model) {
    for (uint32_t i = 0; i < model->context_count; i++)
        model->contexts[i].total_s = model->contexts[i].self_s;
    for (uint32_t i = model->context_count; i-- > 1;)
        model->contexts[model->contexts[i].parent].total_s += model->contexts[i].total_s;
}
