/* SPDX-License-Identifier: MIT
 *
 * What functions did in tasks. Details are by node, so a function that was called from several
 * places has several; here they become one row per function and task.
 */
#include <stdlib.h>

#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/model_task_internal.h"

/* The detail of a node; `count` if it did not grow. */
static uint32_t find_node(const struct bp_task_growth *growth, uint32_t node) {
    uint32_t low = 0;
    uint32_t high = growth->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (growth->nodes[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < growth->count && growth->nodes[low].node == node ? low : growth->count;
}

static void subtract(struct bp_task_growth *growth, uint32_t detail, double cost_s) {
    if (detail >= growth->count)
        return;
    if (cost_s > growth->self_s[detail])
        cost_s = growth->self_s[detail];
    growth->self_s[detail] -= cost_s;
    growth->overhead_s += cost_s;
}

static void subtract_costs(struct bp_task_growth *growth, const struct bp_profile *profile,
                           const struct bp_profile_thread *thread, double tick_s) {
    for (uint32_t i = 0; i < growth->count; i++) {
        const struct bp_node *node = &thread->nodes[growth->nodes[i].node];
        double calls = growth->nodes[i].calls;
        struct bp_call_cost cost = bp_model_call_cost(profile, node->func);
        bool has_caller = growth->nodes[i].node > 0 && node->inner == 0;
        uint32_t caller = has_caller ? find_node(growth, node->parent) : i;
        subtract(growth, i, calls * cost.inside * tick_s);
        subtract(growth, caller, calls * cost.outside * tick_s);
    }
}

/* Own cost is an average: in some tasks it is more than a function's time, which is then nothing,
 * and in others it is less. Together they would have more than the function has in the run. */
static void fit(struct bp_task_growth *growth, const struct bp_thread_work *work) {
    for (uint32_t i = 0; work->task_self_s && i < growth->count; i++) {
        uint32_t node = growth->nodes[i].node;
        if (!(work->task_self_s[node] > (1 + 1e-9) * work->self_s[node]))
            continue; /* the same but for rounding */
        double kept_s = growth->self_s[i] * work->self_s[node] / work->task_self_s[node];
        growth->overhead_s += growth->self_s[i] - kept_s;
        growth->self_s[i] = kept_s;
    }
}

void bp_task_growth_init(struct bp_task_growth *growth, const struct bp_model *model,
                         const struct bp_task_source *source, const struct bp_model_task *task) {
    const struct bp_model_process *process = &model->processes[source->process];
    const struct bp_profile *profile = process->profile;
    const struct bp_task *from = &profile->tasks[source->item];
    *growth = (struct bp_task_growth){0};
    if (task->thread == BP_NO_THREAD || !(from->flags & BP_TASK_DETAILED))
        return;
    growth->nodes = profile->task_nodes + from->first_detail;
    growth->count = from->detail_count;
    growth->self_s = bp_alloc(growth->count, sizeof(*growth->self_s));
    for (uint32_t i = 0; i < growth->count; i++)
        growth->self_s[i] = (double)growth->nodes[i].self * process->tick_s;
    subtract_costs(growth, profile, model->thread_list[task->thread].source, process->tick_s);
    fit(growth, &model->work->threads[task->thread]);
}

void bp_task_growth_fini(struct bp_task_growth *growth) {
    free(growth->self_s);
}

/* One task at work. */
struct rows {
    struct bp_model *model;
    uint32_t *row; /* per function: place in task_functions + 1, valid if >= first + 1 */
    uint32_t first;
};

static struct bp_task_function *find_row(struct rows *rows, uint32_t function) {
    struct bp_model *model = rows->model;
    if (rows->row[function] <= rows->first) {
        struct bp_task_function *fresh =
            BP_APPEND(model->task_functions, model->task_function_count);
        fresh->function = function;
        rows->row[function] = model->task_function_count;
    }
    return &model->task_functions[rows->row[function] - 1];
}

/* Calls of CUDA, as their records divide them. */
struct cuda {
    double time_s;
    struct bp_node_split parts;
};

static void add_growth(struct rows *rows, struct bp_model_task *task, struct cuda *cuda,
                       const struct bp_task_growth *growth) {
    struct bp_model *model = rows->model;
    const struct bp_thread_work *work = &model->work->threads[task->thread];
    for (uint32_t i = 0; i < growth->count; i++) {
        uint32_t node = growth->nodes[i].node;
        const struct bp_function *function = &model->functions[work->function[node]];
        struct bp_task_function *row = find_row(rows, work->function[node]);
        row->calls += growth->nodes[i].calls;
        row->self_s += growth->self_s[i];
        if (!function->cuda) {
            task->category_s[function->category] += growth->self_s[i];
            continue;
        }
        struct bp_node_split parts = bp_model_divide(work, node, growth->self_s[i]);
        cuda->time_s += growth->self_s[i];
        cuda->parts.transfer_s += parts.transfer_s;
        for (int c = 0; c < BP_CATEGORIES; c++)
            cuda->parts.wait_s[c] += parts.wait_s[c];
    }
}

/* The task's own records say more than the whole run's average, where they came in time. */
static void add_cuda(struct bp_model_task *task, const struct cuda *cuda,
                     const struct bp_task *from) {
    double wait_s = cuda->parts.wait_s[BP_DSL] + cuda->parts.wait_s[BP_FRAMEWORK];
    double dsl = wait_s > 0 ? cuda->parts.wait_s[BP_DSL] / wait_s : 0;
    double transfer_s = cuda->parts.transfer_s;
    if (from->cuda && from->transfer <= from->cuda &&
        from->kernel_wait <= from->cuda - from->transfer) {
        transfer_s = cuda->time_s * (double)from->transfer / (double)from->cuda;
        wait_s = cuda->time_s * (double)from->kernel_wait / (double)from->cuda;
    }
    task->category_s[BP_TRANSFER] += transfer_s;
    task->category_s[BP_DSL] += dsl * wait_s;
    task->category_s[BP_FRAMEWORK] += cuda->time_s - transfer_s - dsl * wait_s;
}

static int compare_rows(const void *a, const void *b) {
    const struct bp_task_function *x = a;
    const struct bp_task_function *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static void add_task(struct rows *rows, struct bp_model_task *task,
                     const struct bp_task_source *source) {
    struct bp_model *model = rows->model;
    struct bp_task_growth growth;
    struct cuda cuda = {0};
    rows->first = task->first_function = model->task_function_count;
    bp_task_growth_init(&growth, model, source, task);
    task->detailed = growth.count > 0;
    task->overhead_s = growth.overhead_s;
    if (task->detailed)
        add_growth(rows, task, &cuda, &growth);
    add_cuda(task, &cuda, &model->processes[source->process].profile->tasks[source->item]);
    bp_task_growth_fini(&growth);
    task->function_count = model->task_function_count - rows->first;
    if (task->function_count)
        qsort(model->task_functions + rows->first, task->function_count,
              sizeof(*model->task_functions), compare_rows);
    for (uint32_t i = 0; task->parent == BP_NO_TASK && i < task->function_count; i++) {
        const struct bp_task_function *row = &model->task_functions[rows->first + i];
        model->functions[row->function].tasks++;
        model->functions[row->function].task_s += row->self_s;
    }
}

/* What the outermost tasks have of each node, before it is fitted. */
static void sum_growth(struct bp_model *model, const struct bp_task_work *work) {
    double **sums = bp_alloc(model->thread_count, sizeof(*sums));
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        struct bp_task_growth growth;
        if (task->parent != BP_NO_TASK || task->thread == BP_NO_THREAD)
            continue;
        double **sum = &sums[task->thread];
        if (!*sum)
            *sum = bp_alloc(model->thread_list[task->thread].source->node_count, sizeof(**sum));
        bp_task_growth_init(&growth, model, &work->sources[i], task);
        for (uint32_t k = 0; k < growth.count; k++)
            (*sum)[growth.nodes[k].node] += growth.self_s[k];
        bp_task_growth_fini(&growth);
    }
    for (uint32_t i = 0; i < model->thread_count; i++)
        model->work->threads[i].task_self_s = sums[i];
    free(sums);
}

void bp_model_add_task_functions(struct bp_model *model, struct bp_task_work *work) {
    struct rows rows = {.model = model};
    sum_growth(model, work);
    rows.row = bp_alloc(model->function_count, sizeof(*rows.row));
    for (uint32_t i = 0; i < model->task_count; i++)
        add_task(&rows, &model->tasks[i], &work->sources[i]);
    free(rows.row);
}
