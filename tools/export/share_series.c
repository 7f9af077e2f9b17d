/* SPDX-License-Identifier: MIT */
#include "tools/export/share_series.h"

#include <stdlib.h>

#include "tools/base/memory.h"

/* A task begins, and adds to the rates; or ends, and takes off. */
struct change {
    double time_s;
    double rate[BP_CATEGORIES];
};

static void add_task(struct change **changes, uint32_t *count, const struct bp_model_task *task) {
    struct change begin = {.time_s = task->start_s};
    struct change end = {.time_s = task->start_s + task->duration_s};
    for (int i = 0; i < BP_CATEGORIES; i++) {
        begin.rate[i] = task->category_s[i] / task->duration_s;
        end.rate[i] = -begin.rate[i];
    }
    *BP_APPEND(*changes, *count) = begin;
    *BP_APPEND(*changes, *count) = end;
}

static int compare(const void *a, const void *b) {
    const struct change *x = a;
    const struct change *y = b;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

void bp_share_series(const struct bp_model *model, bp_share_visit *visit, void *data) {
    struct change *changes = NULL;
    struct bp_share_point point = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (bp_task_counts(task) && task->detailed && task->duration_s > 0)
            add_task(&changes, &count, task);
    }
    if (count)
        qsort(changes, count, sizeof(*changes), compare);
    for (uint32_t i = 0; i < count; i++) {
        point.time_s = changes[i].time_s;
        for (int k = 0; k < BP_CATEGORIES; k++) {
            point.category[k] += changes[i].rate[k];
            if (point.category[k] < 1e-9) /* what rounding leaves of the last task */
                point.category[k] = 0;
        }
        if (i + 1 == count || changes[i + 1].time_s > point.time_s)
            visit(&point, data);
    }
    free(changes);
}
