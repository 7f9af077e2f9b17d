/* SPDX-License-Identifier: MIT
 *
 * The median task: what each function and phase takes in an ordinary task, one that does not stand
 * out. A function that is in fewer than half of them takes nothing in the median one.
 */
#include "tools/model/task/typical.h"

#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/model/model.h"

struct value {
    uint32_t number;
    double s;
};

static int compare_values(const void *a, const void *b) {
    const struct value *x = a;
    const struct value *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->s < y->s ? -1 : x->s > y->s;
}

static bool is_ordinary(const struct bp_model_task *task) {
    return bp_task_counts(task) && task->detailed && !task->outlier && !task->unfinished;
}

/* The median of `count` values and as many zeros as are missing to `all`. */
static double median_with_zeros(const struct value *values, uint32_t count, uint32_t all) {
    double *sorted = bp_alloc(all, sizeof(*sorted));
    for (uint32_t i = 0; i < count && i < all; i++)
        sorted[all - count + i] = values[i].s;
    double median = bp_quantile(sorted, all, 0.5);
    free(sorted);
    return median;
}

/* `values` are freed. */
static double *find_medians(struct value *values, uint32_t count, uint32_t numbers, uint32_t all) {
    double *medians = bp_alloc(numbers, sizeof(*medians));
    uint32_t first = 0;
    if (count)
        qsort(values, count, sizeof(*values), compare_values);
    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && values[i].number == values[first].number)
            continue;
        if (2 * (uint64_t)(i - first) >= all)
            medians[values[first].number] = median_with_zeros(values + first, i - first, all);
        first = i;
    }
    free(values);
    return medians;
}

void bp_task_typical_init(struct bp_task_typical *typical, const struct bp_model *model) {
    struct value *functions = bp_alloc(model->tasks.function_count, sizeof(*functions));
    struct value *phases = bp_alloc(model->tasks.phase_count, sizeof(*phases));
    uint32_t function_count = 0;
    uint32_t phase_count = 0;
    typical->tasks = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!is_ordinary(task))
            continue;
        typical->tasks++;
        for (uint32_t k = 0; k < task->function_count; k++) {
            const struct bp_task_function *row = &model->tasks.functions[task->first_function + k];
            functions[function_count++] = (struct value){row->function, row->self_s};
        }
        for (uint32_t k = 0; k < task->phase_count; k++) {
            const struct bp_task_phase *row = &model->tasks.phases[task->first_phase + k];
            phases[phase_count++] = (struct value){row->phase, row->s};
        }
    }
    typical->function_s =
        find_medians(functions, function_count, model->function_count, typical->tasks);
    typical->phase_s = find_medians(phases, phase_count, model->phase_count, typical->tasks);
}

void bp_task_typical_fini(struct bp_task_typical *typical) {
    free(typical->function_s);
    free(typical->phase_s);
}

struct excess {
    const struct bp_model *model;
    const struct bp_task_typical *typical;
};

static int compare_excess(const void *a, const void *b, void *data) {
    const struct excess *excess = data;
    const struct bp_task_function *x = a;
    const struct bp_task_function *y = b;
    double more_x = x->self_s - excess->typical->function_s[x->function];
    double more_y = y->self_s - excess->typical->function_s[y->function];
    if (more_x != more_y)
        return more_x > more_y ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

struct bp_task_function *bp_task_excess(const struct bp_model *model,
                                        const struct bp_task_typical *typical,
                                        const struct bp_model_task *task) {
    struct bp_task_function *rows = bp_alloc(task->function_count, sizeof(*rows));
    struct excess excess = {model, typical};
    for (uint32_t i = 0; i < task->function_count; i++)
        rows[i] = model->tasks.functions[task->first_function + i];
    if (task->function_count)
        qsort_r(rows, task->function_count, sizeof(*rows), compare_excess, &excess);
    return rows;
}
