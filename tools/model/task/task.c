/* SPDX-License-Identifier: MIT
 *
 * Tasks over all processes, in the order of their starts, and what each function did in them. A
 * task recorded by how much the nodes of its thread grew while it ran; the overhead of the calls
 * among that is taken out as everywhere else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/model/task/internal.h"

/* Per slot in the file the thread's number in the model, BP_NO_THREAD where there is none. A
 * process that another thread than the first forked has that thread's slot and none before. */
struct threads {
    uint32_t *numbers;
    uint32_t count;
};

static void threads_init(struct threads *threads, const struct bp_model *model, uint32_t process) {
    const struct bp_profile *profile = model->processes[process].profile;
    *threads = (struct threads){0};
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].slot >= threads->count)
            threads->count = profile->threads[i].slot + 1;
    threads->numbers = bp_alloc(threads->count, sizeof(*threads->numbers));
    memset(threads->numbers, 0xff, threads->count * sizeof(*threads->numbers));
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i].process == process)
            threads->numbers[model->threads[i].source->slot] = i;
}

static uint32_t thread_at(const struct threads *threads, uint32_t slot) {
    return slot < threads->count ? threads->numbers[slot] : BP_NO_THREAD;
}

bool bp_task_is_phase(const struct bp_task *item) {
    return item->flags & BP_TASK_PHASE && !(item->flags & BP_TASK_INPUT);
}

bool bp_task_is_range(const struct bp_task *item) {
    return bp_task_is_phase(item) && item->func == BP_NO_FUNC;
}

const char *bp_task_phase_name(const struct bp_profile *profile, uint32_t item) {
    const struct bp_task *from = &profile->tasks[item];
    if (bp_task_is_range(from))
        return bp_profile_string(profile, from->name);
    return from->func == BP_NO_FUNC ? ""
                                    : bp_profile_string(profile, profile->funcs[from->func].phase);
}

/* The innermost item around it that is a phase, or is a task. */
static uint32_t find_outer(const struct bp_profile *profile, uint32_t item, bool phase) {
    do
        item = profile->tasks[item].parent;
    while (item != BP_NO_TASK && (profile->tasks[item].flags & BP_TASK_INPUT ||
                                  bp_task_is_phase(&profile->tasks[item]) != phase));
    return item;
}

uint32_t bp_task_outer_task(const struct bp_profile *profile, uint32_t item) {
    return find_outer(profile, item, false);
}

uint32_t bp_task_outer_phase(const struct bp_profile *profile, uint32_t item) {
    return find_outer(profile, item, true);
}

static void describe(struct bp_model *model, struct bp_task_source *source,
                     const uint32_t *functions, const struct threads *threads) {
    const struct bp_model_process *process = &model->processes[source->process];
    const struct bp_profile *profile = process->profile;
    const struct bp_task *from = &profile->tasks[source->item];
    struct bp_model_task *task = &model->tasks.list[model->tasks.count - 1];
    double tick_s = process->tick_s;
    uint64_t end = from->end > process->end ? process->end : from->end;
    *task = (struct bp_model_task){
        .id = bp_profile_string(profile, from->id),
        .name = bp_profile_string(profile, from->name),
        .function = from->func == BP_NO_FUNC ? BP_NO_FUNCTION : functions[from->func],
        .process = source->process,
        .thread = thread_at(threads, from->thread),
        .parent = BP_NO_TASK,
        .start_s =
            process->start_s + (double)(int64_t)(from->start - profile->header.start) * tick_s,
        .duration_s = end > from->start ? (double)(end - from->start) * tick_s : 0,
        .wall_s = (double)from->part / (1 << BP_TREE_V_SHIFT) * tick_s,
        .cpu_s = 1e-9 * (double)from->cpu_ns,
        .waiting_s = (double)from->wait * tick_s,
        .io_s = (double)from->io * tick_s,
        .samples = from->samples,
        .failed = from->flags & BP_TASK_FAILED,
        .unfinished = from->flags & BP_TASK_UNFINISHED,
    };
    /* Its part is written when it ends; until then it is what its thread usually has. */
    if (task->unfinished && from->part == 0 && task->thread != BP_NO_THREAD) {
        const struct bp_model_thread *thread = &model->threads[task->thread];
        double rate = thread->busy_s > 0 ? thread->wall_s / thread->busy_s : 0;
        task->wall_s = fmax(task->duration_s - task->waiting_s, 0) * rate;
    }
    if (!task->name[0] && task->function != BP_NO_FUNCTION)
        task->name = model->functions[task->function].name;
}

/* A task that never ended lasted for as long as its process lived. The file of one that was killed
 * knows only when it last did something; the innermost call has the time since. */
static void extend(const struct bp_model_process *process, struct bp_task *task) {
    struct bp_profile *profile = process->profile;
    const struct bp_profile_thread *thread = bp_profile_thread_at(profile, task->thread);
    if (!(task->flags & BP_TASK_UNFINISHED) || task->end >= process->end || !thread ||
        thread->info.state != BP_THREAD_LIVE || thread->open_count == 0)
        return;
    uint64_t more = process->end - task->end;
    uint32_t innermost = thread->open[0].node;
    task->end = process->end;
    if (profile->funcs[thread->nodes[innermost].func].kind == BP_FUNC_WAIT)
        task->wait += more;
    for (uint32_t i = 0; i < task->detail_count; i++)
        if (profile->task_nodes[task->first_detail + i].node == innermost)
            profile->task_nodes[task->first_detail + i].self += more;
}

static void add_process(struct bp_model *model, struct bp_task_work *work, uint32_t number) {
    const struct bp_profile *profile = model->processes[number].profile;
    if (profile->task_count == 0)
        return;
    for (uint32_t i = 0; i < profile->task_count; i++)
        extend(&model->processes[number], &profile->tasks[i]);
    struct threads threads;
    threads_init(&threads, model, number);
    for (uint32_t i = 0; i < profile->task_count; i++) {
        if (profile->tasks[i].flags & BP_TASK_PHASE)
            continue;
        struct bp_task_source *source = BP_PLACE(work->sources, model->tasks.count);
        *source = (struct bp_task_source){number, i};
        (void)BP_APPEND(model->tasks.list, model->tasks.count);
        describe(model, source, model->processes[number].functions, &threads);
    }
    free(threads.numbers);
}

struct order {
    struct bp_model_task task;
    struct bp_task_source source;
};

static int compare_start(const void *a, const void *b) {
    const struct order *x = a;
    const struct order *y = b;
    if (x->task.start_s != y->task.start_s)
        return x->task.start_s < y->task.start_s ? -1 : 1;
    if (x->source.process != y->source.process)
        return x->source.process < y->source.process ? -1 : 1;
    return x->source.item < y->source.item ? -1 : 1;
}

static void sort_tasks(struct bp_model *model, struct bp_task_work *work) {
    struct order *order = bp_alloc(model->tasks.count, sizeof(*order));
    for (uint32_t i = 0; i < model->tasks.count; i++)
        order[i] = (struct order){model->tasks.list[i], work->sources[i]};
    qsort(order, model->tasks.count, sizeof(*order), compare_start);
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        model->tasks.list[i] = order[i].task;
        work->sources[i] = order[i].source;
        bp_keys_put(&work->numbers, &work->sources[i], sizeof(work->sources[i]));
    }
    free(order);
}

uint32_t bp_task_number(const struct bp_task_work *work, uint32_t process, uint32_t item) {
    struct bp_task_source source = {process, item};
    return bp_keys_get(&work->numbers, &source, sizeof(source));
}

static void set_parents(struct bp_model *model, struct bp_task_work *work) {
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_task_source *source = &work->sources[i];
        const struct bp_profile *profile = model->processes[source->process].profile;
        uint32_t outer = bp_task_outer_task(profile, source->item);
        if (outer != BP_NO_TASK)
            model->tasks.list[i].parent = bp_task_number(work, source->process, outer);
    }
}

/* Tasks that found no place of their own are told by their sums. */
static void add_folds(struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        model->tasks.summary.lost += process->profile->header.tasks_lost;
        for (uint32_t k = 0; k < process->profile->task_fold_count; k++) {
            const struct bp_task_fold *fold = &process->profile->task_folds[k];
            if (fold->flags & BP_TASK_PHASE)
                continue;
            model->tasks.summary.folded += fold->count;
            model->tasks.summary.folded_s += (double)fold->total * process->tick_s;
        }
    }
}

void bp_model_add_tasks(struct bp_model *model) {
    struct bp_task_work work = {0};
    for (uint32_t i = 0; i < model->process_count; i++)
        add_process(model, &work, i);
    if (model->tasks.count)
        sort_tasks(model, &work);
    set_parents(model, &work);
    bp_model_join_tasks(model, &work);
    add_folds(model);
    bp_model_add_task_functions(model, &work);
    bp_model_add_phases(model, &work);
    bp_model_add_task_costs(model);
    bp_model_add_joined(model, &work);
    bp_model_summarise_tasks(model);
    if (model->tasks.wishes.drop_outliers && model->tasks.summary.outliers)
        bp_model_drop_outliers(model, &work);
    bp_keys_fini(&work.numbers);
    free(work.sources);
    free(work.next);
}
