/* SPDX-License-Identifier: MIT
 *
 * --drop-outliers: the model as if those tasks had not run. What a task's nodes grew by is taken
 * from functions, contexts, threads and categories, and its part from the wall. Quantiles of calls
 * stay those of the whole run: the file does not know which calls were the task's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

static void take(double *from, double s) {
    *from = *from > s ? *from - s : 0;
}

static void take_category(struct bp_model *model, struct bp_model_thread *thread,
                          enum bp_category category, double self_s, double wall_s) {
    take(&model->thread_time.category_s[category], self_s);
    take(&model->processes[thread->process].category_s[category], self_s);
    take(&thread->category_s[category], self_s);
    take(&model->wall.category_s[category], wall_s);
}

/* The five parts of the framework and what stands beside them. */
static void take_part(struct bp_model *model, struct bp_model_thread *thread,
                      const struct bp_function *function, double self_s) {
    bool waits = function->kind == BP_FUNC_WAIT;
    take(waits ? &thread->waiting_s : &thread->busy_s, self_s);
    if (waits)
        take(&model->processes[thread->process].waiting_s, self_s);
    if (function->kind == BP_FUNC_IO)
        take(&thread->io_s, self_s);
    if (function->category != BP_FRAMEWORK || function->cuda)
        return;
    take(waits                          ? &model->thread_time.waiting_s
         : function->kind == BP_FUNC_IO ? &model->thread_time.io_s
                                        : &model->thread_time.running_s,
         self_s);
}

static void take_cuda(struct bp_model *model, struct bp_model_thread *thread,
                      struct bp_function *function, struct bp_node_split parts, double self_s,
                      double rate) {
    double wait_s = parts.wait_s[BP_DSL] + parts.wait_s[BP_FRAMEWORK];
    double rest_s = fmax(self_s - parts.transfer_s - wait_s, 0);
    take(&thread->cuda_s, self_s);
    take(&function->transfer_s, parts.transfer_s);
    take(&function->kernel_wait_s, wait_s);
    take(&model->thread_time.dsl_kernel_wait_s, parts.wait_s[BP_DSL]);
    take(&model->thread_time.kernel_wait_s, parts.wait_s[BP_FRAMEWORK]);
    take(&model->wall.dsl_kernel_wait_s, parts.wait_s[BP_DSL] * rate);
    take(&model->wall.kernel_wait_s, parts.wait_s[BP_FRAMEWORK] * rate);
    take(&model->thread_time.cuda_api_s, rest_s);
    take(&model->wall.cuda_api_s, rest_s * rate);
    take_category(model, thread, BP_TRANSFER, parts.transfer_s, parts.transfer_s * rate);
    take_category(model, thread, BP_DSL, parts.wait_s[BP_DSL], parts.wait_s[BP_DSL] * rate);
    take_category(model, thread, BP_FRAMEWORK, parts.wait_s[BP_FRAMEWORK] + rest_s,
                  (parts.wait_s[BP_FRAMEWORK] + rest_s) * rate);
}

static void take_context(struct bp_thread_context *from, uint32_t calls, double self_s) {
    double left = from->self_s > self_s ? 1 - self_s / from->self_s : 0;
    from->calls -= calls < from->calls ? calls : from->calls;
    take(&from->self_s, self_s);
    for (int i = 0; i < BP_CATEGORIES; i++)
        from->category_s[i] *= left;
}

static void take_node(struct bp_model *model, uint32_t thread_number, uint32_t node, uint32_t calls,
                      double self_s, double rate) {
    struct bp_model_thread *thread = &model->threads[thread_number];
    const struct bp_thread_work *work = &model->work->threads[thread_number];
    struct bp_function *function = &model->functions[work->function[node]];
    struct bp_context *context = &model->contexts[work->context[node]];
    bool waits = function->kind == BP_FUNC_WAIT;
    double wall_s = waits ? 0 : self_s * rate;
    function->calls -= calls < function->calls ? calls : function->calls;
    context->calls -= calls < context->calls ? calls : context->calls;
    take_context(&thread->contexts[node], calls, self_s);
    take(&function->self_s, self_s);
    take(&context->self_s, self_s);
    take(&function->wall_s, wall_s);
    take(&context->wall_s, wall_s);
    double idle_s = bp_model_node_idle(model, thread_number, node, self_s);
    take(&function->idle_s, idle_s);
    take(&context->idle_s, idle_s);
    take(&thread->own_idle_s, idle_s);
    take(&model->processes[thread->process].idle_s, idle_s);
    take_part(model, thread, function, self_s);
    if (function->cuda)
        take_cuda(model, thread, function, bp_model_divide(work, node, self_s), self_s, rate);
    else
        take_category(model, thread, function->category, self_s, wall_s);
}

/* Durations of a function that calls itself count within one another: they take the part that the
 * total does. */
static void take_total(struct bp_function *function, double s) {
    double before_s = function->total_s;
    take(&function->total_s, s);
    function->calls_s *= before_s > 0 ? function->total_s / before_s : 0;
}

static void take_totals(struct bp_model *model, uint32_t thread_number,
                        const struct bp_task_growth *growth) {
    const struct bp_thread_work *work = &model->work->threads[thread_number];
    const struct bp_profile_thread *source = model->threads[thread_number].source;
    double *total_s = bp_alloc(source->node_count, sizeof(*total_s));
    for (uint32_t i = 0; i < growth->count; i++)
        total_s[growth->nodes[i].node] += growth->self_s[i];
    bp_model_sum_open(work, source, total_s);
    for (uint32_t i = 0; i < source->node_count; i++)
        take_total(&model->functions[work->function[i]], total_s[i]);
    free(total_s);
}

static void take_sums(struct bp_model *model, const struct bp_model_task *task) {
    struct bp_model_thread *thread = &model->threads[task->thread];
    struct bp_model_process *process = &model->processes[thread->process];
    const struct bp_task_own *own = &task->own;
    take(&model->wall.total_s, own->wall_s + own->idle_s);
    take(&model->wall.idle_s, own->idle_s);
    take(&model->wall.category_s[BP_FRAMEWORK], own->idle_s);
    take(&thread->idle_s, own->idle_s);
    take(&thread->wall_s, own->wall_s);
    take(&process->wall_s, own->wall_s);
    take(&model->thread_time.cpu_s, own->cpu_s);
    take(&model->thread_time.total_s, task->duration_s);
    take(&model->thread_time.overhead_s, own->overhead_s);
    take(&thread->lifetime_s, task->duration_s);
    take(&thread->sum_s, task->duration_s);
    take(&thread->overhead_s, own->overhead_s);
    take(&thread->busy_s, own->overhead_s);
    take(&thread->cpu_s, own->cpu_s);
    take(&process->thread_s, task->duration_s);
    take(&process->sum_s, task->duration_s);
    take(&process->overhead_s, own->overhead_s);
}

/* How often phases were entered by calls of the task. */
static void take_entries(struct bp_model *model, const struct bp_model_task *task,
                         const struct bp_task_growth *growth) {
    const struct bp_profile *profile = model->processes[task->process].profile;
    const struct bp_profile_thread *source = model->threads[task->thread].source;
    for (uint32_t i = 0; i < growth->count; i++) {
        const struct bp_func *func = &profile->funcs[source->nodes[growth->nodes[i].node].func];
        const char *name = bp_profile_string(profile, func->phase);
        for (uint32_t k = 0; func->phase && k < model->phase_count; k++)
            if (strcmp(model->phases[k].name, name) == 0 &&
                model->phases[k].count >= growth->nodes[i].calls)
                model->phases[k].count -= growth->nodes[i].calls;
    }
}

/* The task's part of the wall for a second in which it was busy. */
static double rate_of(const struct bp_model *model, const struct bp_model_task *task,
                      const struct bp_task_growth *growth) {
    double busy_s = task->own.overhead_s;
    for (uint32_t i = 0; i < growth->count; i++) {
        uint32_t function = model->work->threads[task->thread].function[growth->nodes[i].node];
        if (model->functions[function].kind != BP_FUNC_WAIT)
            busy_s += growth->self_s[i];
    }
    return busy_s > 0 ? task->own.wall_s / busy_s : 0;
}

/* A task, or a part of it in another thread. */
static void drop_item(struct bp_model *model, struct bp_model_task *task,
                      const struct bp_task_source *source) {
    struct bp_task_growth growth;
    bp_task_growth_init(&growth, model, source, task);
    double rate = rate_of(model, task, &growth);
    for (uint32_t i = 0; i < growth.count; i++)
        take_node(model, task->thread, growth.nodes[i].node, growth.nodes[i].calls,
                  growth.self_s[i], rate);
    take_totals(model, task->thread, &growth);
    take_entries(model, task, &growth);
    bp_task_growth_fini(&growth);
    take(&model->wall.overhead_s, task->own.overhead_s * rate);
    take_sums(model, task);
    task->dropped = true;
}

static void drop(struct bp_model *model, const struct bp_task_work *work, uint32_t number) {
    for (uint32_t i = number; i != BP_NO_TASK; i = work->next[i])
        if (model->tasks.list[i].thread != BP_NO_THREAD)
            drop_item(model, &model->tasks.list[i], &work->sources[i]);
}

/* A thread's categories share its part of the wall evenly, a task's part is its own: beside others
 * it can be more than its categories have. What is left must not be more than the wall. */
static void fit_categories(struct bp_model *model) {
    double sum_s = model->wall.overhead_s;
    for (int i = 0; i < BP_CATEGORIES; i++)
        sum_s += model->wall.category_s[i];
    for (int i = 0; sum_s > model->wall.total_s && i < BP_CATEGORIES; i++)
        model->wall.category_s[i] *= model->wall.total_s / sum_s;
    if (sum_s > model->wall.total_s)
        model->wall.overhead_s *= model->wall.total_s / sum_s;
}

/* Functions' counts of tasks, without the dropped ones. */
static void forget_rows(struct bp_model *model, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < task->function_count; i++) {
        const struct bp_task_function *row = &model->tasks.functions[task->first_function + i];
        model->functions[row->function].tasks--;
        take(&model->functions[row->function].task_s, row->self_s);
    }
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *row = &model->tasks.phases[task->first_phase + i];
        struct bp_model_phase *phase = &model->phases[row->phase];
        phase->tasks--;
        phase->samples -= task->samples;
        take(&phase->task_s, row->s);
        take(&phase->thread_s, row->s);
        double part = task->duration_s > 0 ? row->s / task->duration_s : 0;
        take(&phase->wall_s, part * task->wall_s);
        take(&phase->idle_s, part * task->idle_s);
    }
}

void bp_model_drop_outliers(struct bp_model *model, struct bp_task_work *work) {
    uint32_t kept = 0;
    double whole_wall_s = model->wall.total_s;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        struct bp_model_task *task = &model->tasks.list[i];
        if (!task->outlier)
            continue;
        if (!task->detailed) {
            kept++;
            continue;
        }
        drop(model, work, i);
        forget_rows(model, task);
    }
    fit_categories(model);
    bp_model_summarise_tasks(model);
    model->tasks.summary.whole_wall_s = whole_wall_s;
    model->tasks.summary.outliers_kept = kept;
}
