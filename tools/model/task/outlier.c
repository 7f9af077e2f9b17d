/* SPDX-License-Identifier: MIT
 *
 * The distribution of tasks and those that stand out of it: see bp_outlier_limit. Tasks that were
 * still running have no duration to compare, and inner tasks are part of the outer ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

/* Failed tasks that took the longest time to within this part ran into a time limit. */
#define SAME_TIME 0.02

static bool counts(const struct bp_model_task *task) {
    return bp_task_counts(task) && !task->dropped;
}

double *bp_task_durations(const struct bp_model *model, uint32_t *count) {
    double *values = bp_alloc(model->tasks.count, sizeof(*values));
    *count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (counts(&model->tasks.list[i]) && !model->tasks.list[i].unfinished)
            values[(*count)++] = model->tasks.list[i].duration_s;
    bp_sort_values(values, *count);
    return values;
}

static void set_distribution(struct bp_task_summary *summary, const double *values,
                             uint32_t count) {
    summary->ended = count;
    summary->mean_s = bp_mean(values, count);
    summary->min_s = bp_quantile(values, count, 0);
    summary->median_s = bp_quantile(values, count, 0.5);
    summary->p75_s = bp_nearest_rank(values, count, 0.75);
    summary->p90_s = bp_nearest_rank(values, count, 0.9);
    summary->p95_s = bp_nearest_rank(values, count, 0.95);
    summary->p99_s = bp_nearest_rank(values, count, 0.99);
    summary->max_s = bp_quantile(values, count, 1);
    summary->mad_s = bp_median_distance(values, count);
}

/* One failed task may fail at any time; two at the same longest time were stopped. */
static void mark_limited(struct bp_model *model) {
    double longest_s = 0;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (counts(&model->tasks.list[i]) && model->tasks.list[i].failed)
            longest_s = fmax(longest_s, model->tasks.list[i].duration_s);
    double least_s = fmax((1 - SAME_TIME) * longest_s, 2 * model->tasks.summary.median_s);
    for (uint32_t i = 0; i < model->tasks.count; i++)
        alike += counts(&model->tasks.list[i]) && model->tasks.list[i].failed &&
                 model->tasks.list[i].duration_s >= least_s;
    for (uint32_t i = 0; alike > 1 && i < model->tasks.count; i++) {
        struct bp_model_task *task = &model->tasks.list[i];
        task->limited = counts(task) && task->failed && task->duration_s >= least_s;
    }
}

static void count_task(struct bp_task_summary *summary, const struct bp_model_task *task) {
    summary->dropped += task->dropped && !task->joined;
    if (!counts(task))
        return;
    summary->count++;
    summary->failed += task->failed;
    summary->unfinished += task->unfinished;
    summary->limited += task->limited;
    summary->plain += !task->detailed;
    summary->samples += task->samples;
    summary->sum_s += task->duration_s;
    summary->wall_s += bp_task_cost(task);
    if (!task->outlier)
        return;
    summary->outliers++;
    summary->outlier_s += task->duration_s;
    summary->outlier_wall_s += bp_task_cost(task);
}

static uint32_t count_slots(const struct bp_model *model) {
    double *edges[2];
    uint32_t count = 0;
    uint32_t most;
    for (int i = 0; i < 2; i++)
        edges[i] = bp_alloc(model->tasks.count, sizeof(double));
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!bp_task_counts(task))
            continue;
        edges[0][count] = task->start_s;
        edges[1][count++] = task->start_s + task->duration_s;
    }
    most = bp_most_at_once(edges[0], edges[1], count);
    free(edges[0]);
    free(edges[1]);
    return most;
}

void bp_model_summarise_tasks(struct bp_model *model) {
    struct bp_task_summary *summary = &model->tasks.summary;
    struct bp_task_summary fresh = {.folded = summary->folded,
                                    .folded_s = summary->folded_s,
                                    .lost = summary->lost,
                                    .outlier_k = model->tasks.wishes.outlier_k};
    uint32_t count;
    double *values = bp_task_durations(model, &count);
    if (!(fresh.outlier_k > 0))
        fresh.outlier_k = BP_DEFAULT_OUTLIER_K;
    set_distribution(&fresh, values, count);
    fresh.outlier_limit_s = bp_outlier_limit(values, count, fresh.outlier_k);
    free(values);
    *summary = fresh;
    mark_limited(model);
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        struct bp_model_task *task = &model->tasks.list[i];
        if (!task->dropped)
            task->outlier = counts(task) && task->duration_s > fresh.outlier_limit_s;
        count_task(summary, task);
    }
    summary->slots = count_slots(model);
}
