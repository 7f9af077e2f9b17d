/* SPDX-License-Identifier: MIT
 *
 * Advice on what is paid once per process: its start, and what it imports or loads. Whose time is
 * neither a task's nor anything else that another process would not have to do again is the
 * start's, from exec and the loader to the interpreter's last garbage collection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* Fewer processes are no habit. */
#define MANY_PROCESSES 8
/* Part of the wall from which on imports are worth a word where processes are. */
#define MUCH_IMPORT 0.1

/* Processes that run tasks, with the programs that they were before an exec. */
struct workers {
    uint32_t count;
    bool *is; /* by process */
    double cost_s;
};

static uint32_t pid_of(const struct bp_model *model, uint32_t process) {
    return (uint32_t)model->processes[process].profile->header.pid;
}

static void find_workers(struct workers *workers, const struct bp_model *model) {
    workers->is = bp_alloc(model->process_count, sizeof(*workers->is));
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!bp_task_is_outermost(task) || task->inner || task->outer || workers->is[task->process])
            continue;
        workers->count++;
        for (uint32_t k = 0; k < model->process_count; k++)
            workers->is[k] |= pid_of(model, k) == pid_of(model, task->process);
    }
}

/* What the wall had of them without tasks, the waits before their first instruction included: who
 * ends a wait of all has it. */
static void add_costs(struct workers *workers, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        if (workers->is[i] && process->thread_s > 0)
            workers->cost_s += process->wall_s * (1 - process->overhead_s / process->thread_s);
    }
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (workers->is[model->threads[i].process])
            workers->cost_s += model->threads[i].idle_s;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (bp_task_is_outermost(&model->tasks.list[i]) &&
            workers->is[model->tasks.list[i].process])
            workers->cost_s -= model->tasks.list[i].own.wall_s + model->tasks.list[i].own.idle_s;
    workers->cost_s = fmax(workers->cost_s, 0);
}

/* The program that the process is after its last exec; NULL if it is not known. */
static const struct bp_model_process *last_image(const struct bp_model *model, int32_t pid) {
    const struct bp_model_process *last = NULL;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        if (process->profile->header.pid == pid && (!last || process->start_s > last->start_s))
            last = process;
    }
    return last;
}

/* A script that looks for a program and then becomes it (pyenv, conda, a container's entry) starts
 * processes of its own, and these others: none of them is the program's. */
static bool is_preparation(const struct bp_model *model, const struct bp_model_process *process) {
    for (uint32_t depth = 0; process && depth < model->process_count; depth++) {
        const struct bp_model_process *parent =
            last_image(model, process->profile->header.parent_pid);
        if (parent && parent->continues && parent->start_s > process->start_s)
            return true;
        process = parent;
    }
    return false;
}

static uint32_t count_started(const struct bp_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->process_count; i++)
        count += !model->processes[i].continues && !is_preparation(model, &model->processes[i]);
    return count;
}

/* A process for every task or two. */
static bool is_habit(uint32_t processes, uint32_t tasks) {
    return processes >= MANY_PROCESSES && 2 * processes >= tasks;
}

/* Imports within tasks, which workers that live on would find done. Those before the first task are
 * in the workers' cost. */
static double import_cost(const struct bp_model *model) {
    const struct bp_group *group = bp_advise_group(model, BP_GROUP_IMPORT);
    return group ? group->wall_s * bp_advise_in_tasks(model, group) : 0;
}

static bool imports_much(const struct bp_model *model) {
    const struct bp_group *group = bp_advise_group(model, BP_GROUP_IMPORT);
    return group && group->wall_s > MUCH_IMPORT * model->wall.total_s;
}

static char *start_what(const struct bp_model *model, uint32_t started) {
    struct bp_text text = {0};
    bp_text_add(&text, "%u processes were started%s", started,
                model->tasks.summary.count ? ", about one for each task" : "");
    if (imports_much(model))
        bp_text_add(&text, ", and each imports its modules again (%s of the wall)",
                    BP_SHARE(bp_advise_group(model, BP_GROUP_IMPORT)->wall_s, model->wall.total_s));
    return bp_text_take(&text);
}

static void advise_start(struct bp_analysis *analysis, uint32_t started, uint32_t processes,
                         double cost_s, double import_s) {
    const struct bp_model *model = analysis->model;
    const struct bp_group *group = bp_advise_group(model, "process start");
    uint32_t tasks = model->tasks.summary.count;
    double started_s = (group ? group->wall_s : 0) + model->wall.start_s;
    struct bp_advice *advice = bp_advise(
        analysis, group && group->part_count ? group->parts[0].function : BP_NO_FUNCTION,
        (cost_s + import_s + started_s) * (1 - 1.0 / processes), 0, start_what(model, started),
        bp_make_text(
            "keep a pool of workers and give them the tasks%s%s",
            imports_much(model) ? " (multiprocessing.Pool without maxtasksperchild)" : "",
            cost_s > 0 ? ": loader, interpreter, imports and exit are paid once per process" : ""));
    if (advice)
        advice->in_tasks = tasks ? 1 : 0;
}

bool bp_advise_pooled(const struct bp_model *model) {
    struct workers workers = {0};
    find_workers(&workers, model);
    free(workers.is);
    return is_habit(workers.count, model->tasks.summary.count);
}

/* Without tasks it is unknown which of a process's time is work. */
static void advise_processes(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct workers workers = {0};
    uint32_t tasks = model->tasks.summary.count;
    find_workers(&workers, model);
    bool habit = is_habit(workers.count, tasks);
    uint32_t started = count_started(model);
    if (habit)
        add_costs(&workers, model);
    if (habit || is_habit(started, tasks))
        advise_start(analysis, started, habit ? workers.count : started, workers.cost_s,
                     habit ? import_cost(model) : 0);
    free(workers.is);
}

/* Samples within imports. */
struct imports {
    uint64_t own_ns;   /* asked for by the program */
    uint64_t start_ns; /* by the interpreter, before it runs the program */
    uint64_t *modules; /* own_ns by the function that is the imported module's code */
};

static bool is_import(const struct bp_function *function) {
    return strcmp(function->group, BP_GROUP_IMPORT) == 0 && function->module[0];
}

/* Before the program runs the outermost Python function is importlib's own. */
static void read_stack(struct imports *imports, const struct bp_model *model, uint32_t number) {
    uint64_t ns = model->samples.stacks[number].cpu_ns;
    uint32_t outermost = BP_NO_FUNCTION;
    uint32_t module = BP_NO_FUNCTION; /* that the outermost import is about */
    uint32_t code = BP_NO_FUNCTION;
    for (uint32_t i = number; i != BP_NO_STACK; i = model->samples.stacks[i].parent) {
        uint32_t function = model->samples.stacks[i].function;
        if (function == BP_NO_FUNCTION || !model->functions[function].module[0])
            continue;
        outermost = function;
        if (strcmp(model->functions[function].name, "<module>") == 0)
            code = function;
        else if (is_import(&model->functions[function]))
            module = code;
    }
    if (outermost != BP_NO_FUNCTION && is_import(&model->functions[outermost])) {
        imports->start_ns += ns;
    } else if (module != BP_NO_FUNCTION) {
        imports->own_ns += ns;
        imports->modules[module] += ns;
    }
}

static const char *largest_module(const struct imports *imports, const struct bp_model *model) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < model->function_count; i++)
        if (imports->modules[i] > imports->modules[largest])
            largest = i;
    return model->functions[largest].module;
}

/* An interpreter that was not looked into is one, too: it is in a program or library of its name.
 */
static bool is_python(const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->func_count; i++)
        if (profile->funcs[i].module)
            return true;
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const char *name = bp_base_name(bp_profile_string(profile, profile->objects[i].path));
        if (strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0)
            return true;
    }
    return false;
}

/* A process that becomes another program by exec is one process, as in the headline. */
static bool is_counted(const struct bp_model *model, uint32_t number) {
    for (uint32_t i = 0; model->processes[number].continues && i < number; i++)
        if (pid_of(model, i) == pid_of(model, number) && is_python(model->processes[i].profile))
            return true;
    return false;
}

static uint32_t count_python(const struct bp_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->process_count; i++)
        count += is_python(model->processes[i].profile) && !is_counted(model, i);
    return count;
}

#define MOSTLY_FOR ", most of it for "

/* A pool of processes that is kept imports once; the rest is in the other advice. */
static void advise_imports(struct bp_analysis *analysis, const struct bp_group *group,
                           uint32_t processes) {
    const struct bp_model *model = analysis->model;
    struct imports imports = {.modules = bp_alloc(model->function_count, sizeof(uint64_t))};
    const char *most = NULL;
    for (uint32_t i = 0; i < model->samples.stack_count; i++)
        if (model->samples.stacks[i].cpu_ns)
            read_stack(&imports, model, i);
    double sum = (double)(imports.own_ns + imports.start_ns);
    bool sampled = model->samples.stack_count > 0; /* then no sample is no sign of an import */
    double own_s = group->wall_s * (sum > 0 ? (double)imports.own_ns / sum : !sampled);
    if (imports.own_ns)
        most = largest_module(&imports, model);
    free(imports.modules);
    bool pooled = bp_advise_pooled(model);
    bp_advise_by_group(
        analysis, group, pooled ? own_s / processes : own_s,
        pooled ? bp_make_text("importing modules, as often as a pool still does%s%s",
                              most ? MOSTLY_FOR : "", most ? most : "")
               : bp_make_text("importing modules, in %u process%s%s%s", processes,
                              processes == 1 ? "" : "es", most ? MOSTLY_FOR : "", most ? most : ""),
        bp_make_text("import where it is needed%s%s",
                     pooled ? ""
                            : ", or keep the process for more tasks: it is paid once per process",
                     sum > 0 ? "" : "; this includes Python's own start"));
}

/* From dlopen alone it is unknown which calls load something for the first time. */
static void advise_loading(struct bp_analysis *analysis, const struct bp_group *group) {
    const struct bp_model *model = analysis->model;
    bp_advise_by_group(
        analysis, group, group->wall_s,
        bp_make_text("loading libraries with dlopen, in %u process%s", model->pid_count,
                     model->pid_count == 1 ? "" : "es"),
        bp_make_text(
            "open a library once and keep it open: after dlclose the next dlopen loads it again"));
}

void bp_advise_process_start(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_group *group = bp_advise_group(model, BP_GROUP_IMPORT);
    uint32_t interpreters = count_python(model);
    advise_processes(analysis);
    if (group && interpreters)
        advise_imports(analysis, group, interpreters);
    else if (group)
        advise_loading(analysis, group);
}
