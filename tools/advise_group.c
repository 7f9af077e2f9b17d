/* SPDX-License-Identifier: MIT
 *
 * Advice from what the time was for: groups of functions, processes, single tiny functions.
 */
#include <string.h>

#include "tools/advise.h"
#include "tools/page.h"
#include "tools/text.h"

/* A Python call of a native function through ctypes or an extension costs about this much more than
 * the function itself; a call of a Python function about a third of it (CPython 3.11). */
#define NATIVE_CALL_S 0.3e-6
#define PYTHON_CALL_S 0.1e-6
/* Fewer calls are no habit. */
#define MANY_CALLS 10000
/* A device that is used less than this waits for the host. */
#define IDLE_PART 0.2

static const struct bp_group *find_group(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->group_count; i++)
        if (strcmp(model->groups[i].name, name) == 0)
            return &model->groups[i];
    return NULL;
}

static const char *caller_of(const struct bp_model *model, const struct bp_group *group) {
    if (group->caller_count == 0)
        return "the program";
    const struct bp_function *function = &model->functions[group->callers[0].function];
    return function->kind == BP_FUNC_ROOT ? "the program's own code" : function->name;
}

static uint32_t function_of(const struct bp_group *group) {
    return group->part_count ? group->parts[0].function : BP_NO_FUNCTION;
}

/* Samples do not tell; the functions that are counted do. */
static double in_tasks(const struct bp_model *model, const struct bp_group *group) {
    double self_s = 0;
    double task_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (strcmp(function->group, group->name) != 0)
            continue;
        self_s += function->self_s;
        task_s += function->task_s;
    }
    return self_s > task_s ? task_s / self_s : 1;
}

static void advise_group(struct bp_model *model, const struct bp_group *group, double saves_s,
                         char *what, char *why) {
    struct bp_advice *advice = bp_advise(model, function_of(group), saves_s, 0, what, why);
    if (advice)
        advice->in_tasks = in_tasks(model, group);
}

void bp_advise_logging(struct bp_model *model) {
    const struct bp_group *group = find_group(model, "logging");
    if (!group)
        return;
    const char *caller = caller_of(model, group);
    char calls[32];
    advise_group(model, group, group->wall_s,
                 group->calls == 1 ? bp_make_text("logging: 1 call, from %s", caller)
                 : group->calls    ? bp_make_text("logging: %s calls, most of them from %s",
                                                  bp_page_count(group->calls, calls), caller)
                                   : bp_make_text("logging: most of it called from %s", caller),
                 bp_make_text("raise the level, or ask whether it is enabled before the message is "
                              "made; inside a DSL function it is paid for every call"));
}

void bp_advise_imports(struct bp_model *model) {
    const struct bp_group *group = find_group(model, BP_GROUP_IMPORT);
    if (!group)
        return;
    advise_group(
        model, group, group->wall_s,
        bp_make_text("importing modules, in %u process%s", model->pid_count,
                     model->pid_count == 1 ? "" : "es"),
        bp_make_text("import where it is needed, or keep the process for more tasks: it is "
                     "paid once per process"));
}

/* A process per task: what starting one costs, times all but one. */
void bp_advise_process_start(struct bp_model *model) {
    const struct bp_group *group = find_group(model, "process start");
    double count = model->pid_count;
    uint32_t tasks = model->task_summary.count;
    if (model->pid_count < 8 || (tasks && 2 * model->pid_count < tasks))
        return;
    double cost_s = (group ? group->wall_s : 0) + model->start_s;
    struct bp_advice *advice =
        bp_advise(model, group ? function_of(group) : BP_NO_FUNCTION, cost_s * (1 - 1 / count), 0,
                  bp_make_text("%u processes were started%s", model->pid_count,
                               tasks ? ", about one for each task" : ""),
                  bp_make_text("keep a pool of workers and give them the tasks"));
    if (advice)
        advice->in_tasks = tasks ? 1 : 0;
}

/* Waiting threads do not add up to wall time: at best they share it. */
static void advise_waiting(struct bp_model *model, uint32_t function, double waited_s,
                           const char *what, const char *why) {
    if (model->threads < 2)
        return;
    bp_advise(model, function, waited_s / model->threads, 0,
              bp_make_text("%s: %.3g s of %u threads together", what, waited_s, model->threads),
              bp_make_text("%s", why));
}

void bp_advise_gil(struct bp_model *model) {
    const struct bp_group *group = find_group(model, "GIL");
    if (group)
        advise_waiting(model, function_of(group), group->self_s, "waiting for Python's GIL",
                       "threads of one interpreter take turns: use processes, or native code that "
                       "releases it");
}

/* Who waits on a condition or a semaphore waits for work or for a result, as idle workers and those
 * who gave them their work do. Only a lock is held by somebody who could let it go earlier. */
static bool is_lock(const struct bp_function *function) {
    static const char *const beginnings[] = {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_",
                                             "mtx_",           "flock",           "lockf"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function->name, beginnings[i], strlen(beginnings[i])) == 0)
            return function->kind == BP_FUNC_WAIT;
    return false;
}

void bp_advise_locks(struct bp_model *model) {
    double waited_s = 0;
    uint32_t longest = BP_NO_FUNCTION;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (!is_lock(function))
            continue;
        waited_s += function->self_s;
        if (longest == BP_NO_FUNCTION || function->self_s > model->functions[longest].self_s)
            longest = i;
    }
    advise_waiting(model, longest, waited_s, "waiting for locks",
                   "shorten what is done under the lock, or give workers longer pieces of work");
}

static double overhead_of(const struct bp_function *function) {
    double cost_s = function->module[0] ? PYTHON_CALL_S : NATIVE_CALL_S;
    bool tiny = function->calls >= MANY_CALLS && function->category == BP_DSL &&
                function->kind == BP_FUNC_CALL &&
                function->self_s < cost_s * (double)function->calls;
    return tiny ? cost_s * (double)function->calls : 0;
}

void bp_advise_tiny_functions(struct bp_model *model) {
    const struct bp_function *worst = NULL;
    double sum_s = 0;
    uint32_t count = 0;
    bool python = false;
    for (uint32_t i = 0; i < model->process_count; i++)
        python |=
            strncmp(bp_base_name(model->processes[i].profile->header.executable), "python", 6) == 0;
    for (uint32_t i = 0; python && i < model->function_count; i++) {
        double cost_s = overhead_of(&model->functions[i]);
        sum_s += cost_s;
        count += cost_s > 0;
        if (cost_s > 0 && (!worst || cost_s > overhead_of(worst)))
            worst = &model->functions[i];
    }
    if (!worst)
        return;
    char calls[32];
    bp_advise(model, (uint32_t)(worst - model->functions), sum_s, 0,
              count == 1 ? bp_make_text("%s, a tiny function, is called from Python", worst->name)
                         : bp_make_text("%s and %u more tiny function%s are called from Python",
                                        worst->name, count - 1, count == 2 ? "" : "s"),
              bp_make_text("%s calls of %.0f ns each: the call costs more than the work; do "
                           "several in one call",
                           bp_page_count(worst->calls, calls),
                           1e9 * worst->self_s / (double)worst->calls));
}

/* What it would save depends on what could be given to it: see the candidates. */
void bp_advise_idle_device(struct bp_model *model) {
    for (uint32_t i = 0; i < model->device_count; i++) {
        const struct bp_model_device *device = &model->devices[i];
        if (!(device->busy_s > 0) || device->busy_s > IDLE_PART * model->wall_s)
            continue;
        bp_advise_remark(
            model,
            bp_make_text("%s was idle for %.0f %% of the wall", device->name,
                         100 * (1 - device->busy_s / model->wall_s)),
            bp_make_text("larger batches or more streams would use it: battprof report --by "
                         "candidate"));
    }
}
