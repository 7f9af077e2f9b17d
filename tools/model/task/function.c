/* SPDX-License-Identifier: MIT
 *
 * What functions did in tasks. Details are by node, so a function that was called from several
 * places has several; here they become one row per function and task.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

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

/* As in model/thread.c. */
static void move_untimed(struct bp_task_growth *growth, const struct bp_model_process *process,
                         const struct bp_profile_thread *thread) {
    for (uint32_t i = 0; i < growth->count; i++) {
        const struct bp_task_node *grown = &growth->nodes[i];
        const struct bp_node *node = &thread->nodes[grown->node];
        uint32_t caller = grown->untimed ? find_node(growth, node->parent) : growth->count;
        if (caller == growth->count)
            continue;
        double took_s = grown->untimed * bp_model_untimed_mean(process, node) * process->tick_s;
        double moved_s = took_s < growth->self_s[caller] ? took_s : growth->self_s[caller];
        growth->self_s[caller] -= moved_s;
        growth->self_s[i] += moved_s;
    }
}

static void subtract_costs(struct bp_task_growth *growth, const struct bp_model_process *process,
                           const struct bp_profile_thread *thread) {
    double tick_s = process->tick_s;
    for (uint32_t i = 0; i < growth->count; i++) {
        const struct bp_node *node = &thread->nodes[growth->nodes[i].node];
        double untimed = growth->nodes[i].untimed, calls = growth->nodes[i].calls - untimed;
        struct bp_call_overhead cost = bp_model_call_overhead(process, node->func);
        bool has_caller = growth->nodes[i].node > 0 && node->inner == 0;
        uint32_t caller = has_caller ? find_node(growth, node->parent) : i;
        subtract(growth, i, calls * cost.inside * tick_s);
        subtract(growth, caller,
                 (calls * cost.outside + bp_model_untimed_overhead(process, node, untimed, 0)) *
                     tick_s);
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
    growth->count = from->detail_count;
    growth->nodes = growth->count ? &profile->task_nodes[from->first_detail] : NULL;
    growth->self_s = bp_alloc(growth->count, sizeof(*growth->self_s));
    for (uint32_t i = 0; i < growth->count; i++)
        growth->self_s[i] = (double)growth->nodes[i].self * process->tick_s;
    move_untimed(growth, process, model->threads[task->thread].source);
    subtract_costs(growth, process, model->threads[task->thread].source);
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
            BP_APPEND(model->tasks.functions, model->tasks.function_count);
        fresh->function = function;
        rows->row[function] = model->tasks.function_count;
    }
    return &model->tasks.functions[rows->row[function] - 1];
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

static uint32_t call_of(const struct bp_model *model, const struct bp_task_source *source) {
    return model->processes[source->process].profile->tasks[source->item].node;
}

/* A function is open once in a context: what a node grew by is time of all functions above it, up
 * to the task's own call. */
static void add_totals(struct rows *rows, const struct bp_model_task *task, uint32_t call,
                       const struct bp_task_growth *growth) {
    const struct bp_thread_work *work = &rows->model->work->threads[task->thread];
    const struct bp_profile_thread *source = rows->model->threads[task->thread].source;
    for (uint32_t i = 0; i < growth->count; i++) {
        uint32_t node = growth->nodes[i].node;
        for (;;) {
            find_row(rows, work->function[node])->total_s += growth->self_s[i];
            if (node == call || node == 0)
                break;
            node = source->nodes[node].parent;
        }
    }
}

/* What was done for the task in other threads; its categories are added with its other figures. */
static void add_joined(struct rows *rows, const struct bp_task_work *work, uint32_t number) {
    struct bp_model *model = rows->model;
    for (uint32_t i = work->next[number]; i != BP_NO_TASK; i = work->next[i]) {
        struct bp_model_task piece = model->tasks.list[i];
        struct bp_task_growth growth;
        struct cuda cuda = {0};
        bp_task_growth_init(&growth, model, &work->sources[i], &piece);
        add_growth(rows, &piece, &cuda, &growth);
        if (growth.count)
            add_totals(rows, &piece, call_of(model, &work->sources[i]), &growth);
        bp_task_growth_fini(&growth);
    }
}

static void add_task(struct rows *rows, const struct bp_task_work *work, uint32_t number) {
    struct bp_model *model = rows->model;
    struct bp_model_task *task = &model->tasks.list[number];
    const struct bp_task_source *source = &work->sources[number];
    struct bp_task_growth growth;
    struct cuda cuda = {0};
    rows->first = task->first_function = model->tasks.function_count;
    bp_task_growth_init(&growth, model, source, task);
    task->detailed = growth.count > 0;
    task->overhead_s = growth.overhead_s;
    if (task->detailed) {
        add_growth(rows, task, &cuda, &growth);
        add_totals(rows, task, call_of(model, source), &growth);
    }
    add_cuda(task, &cuda, &model->processes[source->process].profile->tasks[source->item]);
    bp_task_growth_fini(&growth);
    if (task->parent == BP_NO_TASK)
        add_joined(rows, work, number);
    task->function_count = model->tasks.function_count - rows->first;
    if (task->function_count)
        qsort(model->tasks.functions + rows->first, task->function_count,
              sizeof(*model->tasks.functions), compare_rows);
    for (uint32_t i = 0; bp_task_counts(task) && i < task->function_count; i++) {
        const struct bp_task_function *row = &model->tasks.functions[rows->first + i];
        model->functions[row->function].tasks++;
        model->functions[row->function].task_s += row->self_s;
    }
}

/* What the outermost tasks have of each node, before it is fitted. */
static void sum_growth(struct bp_model *model, const struct bp_task_work *work) {
    double **sums = bp_alloc(model->thread_count, sizeof(*sums));
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        struct bp_task_growth growth;
        if (!bp_task_is_outermost(task) || task->thread == BP_NO_THREAD)
            continue;
        double **sum = &sums[task->thread];
        if (!*sum)
            *sum = bp_alloc(model->threads[task->thread].source->node_count, sizeof(**sum));
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
    for (uint32_t i = 0; i < model->tasks.count; i++)
        add_task(&rows, work, i);
    free(rows.row);
}
