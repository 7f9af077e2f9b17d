/* SPDX-License-Identifier: MIT
 *
 * Calls that were counted only. Timed calls among them, at random distances, tell what they took on
 * average, and how well that is known. docs/internals/adaptive.md has the statistics.
 */
#include <math.h>

#include "tools/model/internal.h"

static double mean_of(const struct bp_node *node) {
    if (node->sampled_weight)
        return (double)node->sampled_self / (double)node->sampled_weight;
    uint64_t timed = bp_node_calls(node) - node->untimed - node->aborted;
    return timed ? (double)node->self / (double)timed : 0;
}

/* Without samples it is what all calls before took. */
double bp_model_untimed_mean(const struct bp_model_process *process, const struct bp_node *node) {
    const struct bp_header *header = &process->profile->header;
    double inside = (node->sampled ? header->sampled_inside : header->inside) / 256.0;
    return node->untimed ? fmax(mean_of(node) - inside, 0) : 0;
}

/* Of samples what they cost more than other timed calls. */
double bp_model_untimed_overhead(const struct bp_model_process *process, double untimed,
                                 double sampled) {
    const struct bp_header *header = &process->profile->header;
    double more = (double)header->sampled_outside - (double)header->outside;
    double cost = untimed * header->untimed + sampled * fmax(more, 0);
    return cost / 256.0 * process->cold.native;
}

/* Of the mean, squared. */
static double variance_of(const struct bp_node *node) {
    double mean = mean_of(node), weight = (double)node->sampled_weight;
    if (node->sampled < 2)
        return mean * mean;
    double count = weight * weight / (double)node->sampled_weight_squares;
    double squares = (double)node->sampled_squares / weight - mean * mean;
    return fmax(squares, 0) / fmax(count - 1, 1);
}

/* The samples' error adds up by squares, that of the overhead in them as it is. */
void bp_model_add_untimed(struct bp_model *model, const struct bp_model_process *process,
                          uint32_t number, const struct bp_node *node) {
    struct bp_function *function = &model->functions[number];
    double untimed = (double)node->untimed * process->tick_s;
    if (!node->untimed)
        return;
    function->untimed += node->untimed;
    function->sampled += node->sampled;
    function->untimed_inside_s += untimed * process->profile->header.sampled_inside / 256.0;
    function->untimed_variance += untimed * untimed * variance_of(node);
}
