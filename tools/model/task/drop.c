/* SPDX-License-Identifier: MIT
 *
 * --drop-outliers: the model as if those tasks had not run. What a task's nodes grew by is taken
 * from functions, contexts, threads and categories, and its part from the wall. Quantiles of calls
 * stay those of the whole run: the file does not know which calls were the task's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/model_task_internal.h"

static void take(double *from, double s) {
    *from = *from > s ? *from - s : 0;
}

static void take_category(struct bp_model *model, struct bp_model_thread *thread,
                          enum bp_category category, double self_s, double wall_s) {
    take(&model->category_thread_s[category], self_s);
    take(&model->processes[thread->process].category_s[category], self_s);
    take(&thread->category_s[category], self_s);
    take(&model->category_s[category], wall_s);
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
    take(waits                          ? &model->waiting_s
         : function->kind == BP_FUNC_IO ? &model->io_s
                                        : &model->running_s,
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
    take(&model->dsl_kernel_wait_s, parts.wait_s[BP_DSL]);
    take(&model->kernel_wait_s, parts.wait_s[BP_FRAMEWORK]);
    take(&model->dsl_kernel_wait_wall_s, parts.wait_s[BP_DSL] * rate);
    take(&model->kernel_wait_wall_s, parts.wait_s[BP_FRAMEWORK] * rate);
    take(&model->cuda_api_s, rest_s);
    take(&model->cuda_api_wall_s, rest_s * rate);
    take_category(model, thread, BP_TRANSFER, parts.transfer_s, parts.transfer_s * rate);
    take_category(model, thread, BP_DSL, parts.wait_s[BP_DSL], parts.wait_s[BP_DSL] * rate);
    take_category(model, thread, BP_FRAMEWORK, parts.wait_s[BP_FRAMEWORK] + rest_s,
                  (parts.wait_s[BP_FRAMEWORK] + rest_s) * rate);
}

static void take_node(struct bp_model *model, uint32_t thread_number, uint32_t node, uint32_t calls,
                      double self_s, double rate) {
    struct bp_model_thread *thread = &model->thread_list[thread_number];
    const struct bp_thread_work *work = &model->work->threads[thread_number];
    struct bp_function *function = &model->functions[work->function[node]];
    struct bp_context *context = &model->contexts[work->context[node]];
    bool waits = function->kind == BP_FUNC_WAIT;
    double wall_s = waits ? 0 : self_s * rate;
    function->calls -= calls < function->calls ? calls : function->calls;
    context->calls -= calls < context->calls ? calls : context->calls;
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

/* A function is open once in a context, so what a node and all below it grew by is its total. */
static void take_totals(struct bp_model *model, uint32_t thread_number,
                        const struct bp_task_growth *growth) {
    const struct bp_thread_work *work = &model->work->threads[thread_number];
    const struct bp_profile_thread *source = model->thread_list[thread_number].source;
    double *total_s = bp_alloc(source->node_count, sizeof(*total_s));
    for (uint32_t i = 0; i < growth->count; i++)
        total_s[growth->nodes[i].node] += growth->self_s[i];
    for (uint32_t i = source->node_count; i-- > 0;) {
        take(&model->functions[work->function[i]].total_s, total_s[i]);
        take(&model->functions[work->function[i]].calls_s, total_s[i]);
        take(&model->contexts[work->context[i]].total_s, total_s[i]);
        if (i > 0)
            total_s[source->nodes[i].parent] += total_s[i];
    }
    free(total_s);
}

static void take_sums(struct bp_model *model, const struct bp_model_task *task) {
    struct bp_model_thread *thread = &model->thread_list[task->thread];
    struct bp_model_process *process = &model->processes[thread->process];
    take(&model->wall_s, bp_task_cost(task));
    take(&model->idle_s, task->idle_s);
    take(&model->category_s[BP_FRAMEWORK], task->idle_s);
    take(&thread->idle_s, task->idle_s);
    take(&thread->wall_s, task->wall_s);
    take(&process->wall_s, task->wall_s);
    take(&model->cpu_s, task->cpu_s);
    take(&model->thread_s, task->duration_s);
    take(&model->overhead_s, task->overhead_s);
    take(&thread->lifetime_s, task->duration_s);
    take(&thread->sum_s, task->duration_s);
    take(&thread->overhead_s, task->overhead_s);
    take(&thread->busy_s, task->overhead_s);
    take(&thread->cpu_s, task->cpu_s);
    take(&process->thread_s, task->duration_s);
    take(&process->sum_s, task->duration_s);
    take(&process->overhead_s, task->overhead_s);
}

/* How often phases were entered by calls of the task. */
static void take_entries(struct bp_model *model, const struct bp_model_task *task,
                         const struct bp_task_growth *growth) {
    const struct bp_profile *profile = model->processes[task->process].profile;
    const struct bp_profile_thread *source = model->thread_list[task->thread].source;
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
    double busy_s = task->overhead_s;
    for (uint32_t i = 0; i < growth->count; i++) {
        uint32_t function = model->work->threads[task->thread].function[growth->nodes[i].node];
        if (model->functions[function].kind != BP_FUNC_WAIT)
            busy_s += growth->self_s[i];
    }
    return busy_s > 0 ? task->wall_s / busy_s : 0;
}

static void drop(struct bp_model *model, struct bp_model_task *task,
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
    take(&model->overhead_wall_s, task->overhead_s * rate);
    take_sums(model, task);
    task->dropped = true;
}

/* A thread's categories share its part of the wall evenly, a task's part is its own: beside others
 * it can be more than its categories have. What is left must not be more than the wall. */
static void fit_categories(struct bp_model *model) {
    double sum_s = model->overhead_wall_s;
    for (int i = 0; i < BP_CATEGORIES; i++)
        sum_s += model->category_s[i];
    for (int i = 0; sum_s > model->wall_s && i < BP_CATEGORIES; i++)
        model->category_s[i] *= model->wall_s / sum_s;
    if (sum_s > model->wall_s)
        model->overhead_wall_s *= model->wall_s / sum_s;
}

/* Functions' counts of tasks, without the dropped ones. */
static void forget_rows(struct bp_model *model, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < task->function_count; i++) {
        const struct bp_task_function *row = &model->task_functions[task->first_function + i];
        model->functions[row->function].tasks--;
        take(&model->functions[row->function].task_s, row->self_s);
    }
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *row = &model->task_phases[task->first_phase + i];
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
    char times[2][32];
    uint32_t kept = 0;
    double wall_s = model->wall_s;
    for (uint32_t i = 0; i < model->task_count; i++) {
        struct bp_model_task *task = &model->tasks[i];
        if (!task->outlier)
            continue;
        if (!task->detailed) {
            kept++;
            continue;
        }
        drop(model, task, &work->sources[i]);
        forget_rows(model, task);
    }
    fit_categories(model);
    bp_model_summarise_tasks(model);
    bp_model_note(model,
                  "without %u outlier%s, %s of %s wall; quantiles of calls and transfers "
                  "are those of the whole run",
                  model->task_summary.dropped, model->task_summary.dropped == 1 ? "" : "s",
                  bp_advise_time(wall_s - model->wall_s, times[0]),
                  bp_advise_time(wall_s, times[1]));
    if (kept)
        bp_model_note(model, "%u outlier%s could not be dropped: what they did is not recorded",
                      kept, kept == 1 ? "" : "s");
}
