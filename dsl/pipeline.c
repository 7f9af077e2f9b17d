/* SPDX-License-Identifier: MIT
 *
 * The four phases. Results are kept by task number and printed only at the end, so standard output
 * is the same for every number of threads and processes; times go to standard error if asked for.
 */
#include "dsl/pipeline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GENERATE_DEFAULT 100

static int complain(struct pipeline *pipeline, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(pipeline->error, sizeof(pipeline->error), format, args);
    va_end(args);
    return status;
}

static bool id_wanted(const struct options *options, const char *id) {
    for (int k = 0; k < options->id_count; k++)
        if (!strcmp(options->ids[k], id))
            return true;
    return !options->id_count;
}

static bool id_known(const struct task_list *list, const char *id) {
    for (int k = 0; k < list->n; k++)
        if (!strcmp(list->task[k].id, id))
            return true;
    return false;
}

/* Keeps the tasks asked for by -i, then cuts by -s and -c. */
static int select_tasks(struct pipeline *pipeline, int start, int count) {
    const struct options *options = pipeline->options;
    struct task_list *list = &pipeline->tasks;
    for (int k = 0; k < options->id_count; k++)
        if (!id_known(list, options->ids[k]))
            return complain(pipeline, -ENOENT, "there is no task with id %.40s", options->ids[k]);
    int kept = 0, seen = 0;
    for (int k = 0; k < list->n; k++) {
        bool wanted = id_wanted(options, list->task[k].id);
        if (wanted && seen >= start && (count < 0 || kept < count))
            list->task[kept++] = list->task[k];
        else
            free(list->task[k].sample);
        seen += wanted;
    }
    list->n = kept;
    return kept ? 0 : complain(pipeline, -ENOENT, "no tasks left: -s starts after the last one");
}

/* Without -i only the tasks wanted are generated; their numbers decide what they are. */
static int generate_tasks(struct pipeline *pipeline) {
    const struct options *options = pipeline->options;
    int total = options->generate, first = options->start;
    if (total < 0)
        total = options->count < 0 ? GENERATE_DEFAULT : options->start + options->count;
    int n = total > first ? total - first : 0;
    if (options->count >= 0 && n > options->count)
        n = options->count;
    if (options->id_count) {
        first = 0;
        n = total;
    }
    int status = task_list_generate(&pipeline->tasks, first, n, options->seed);
    if (status)
        return complain(pipeline, status, "generating tasks: %s", strerror(-status));
    return options->id_count ? select_tasks(pipeline, options->start, options->count)
                             : select_tasks(pipeline, 0, -1);
}

int phase_data_loading(struct pipeline *pipeline) {
    const struct options *options = pipeline->options;
    int status;
    if (options->data) {
        status = task_list_load(&pipeline->tasks, options->data, pipeline->error);
        if (!status)
            status = select_tasks(pipeline, options->start, options->count);
    } else {
        status = generate_tasks(pipeline);
    }
    if (!status && options->dump)
        status = task_list_dump(&pipeline->tasks, options->dump, pipeline->error);
    return status;
}

int phase_code_generation(struct pipeline *pipeline) {
    size_t n = (size_t)pipeline->tasks.n;
    pipeline->candidates = calloc(n, sizeof(*pipeline->candidates));
    pipeline->results = calloc(n, sizeof(*pipeline->results));
    if (!pipeline->candidates || !pipeline->results)
        return complain(pipeline, -ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++) {
        const struct task *task = &pipeline->tasks.task[k];
        int status = candidates_make(&pipeline->candidates[k], task);
        if (status)
            return complain(pipeline, status, "task %s: no code: %s", task->id, strerror(-status));
    }
    return 0;
}

static int keep_result(void *context, const struct result *result) {
    struct pipeline *pipeline = context;
    pipeline->results[result->task] = *result;
    return 0;
}

int phase_solver_execution(struct pipeline *pipeline) {
    int status = pipeline->options->processes > 1
                     ? workers_execute(pipeline)
                     : pool_execute(pipeline, 0, 1, keep_result, pipeline);
    if (status)
        return complain(pipeline, status, "solver execution: %s", strerror(-status));
    int undone = 0;
    for (int k = 0; k < pipeline->tasks.n; k++)
        undone += !pipeline->results[k].done;
    if (undone)
        return complain(pipeline, -ECHILD, "a worker died: %d of %d tasks were not done", undone,
                        pipeline->tasks.n);
    return 0;
}

enum verdict { RIGHT, WRONG, UNSOLVED, UNKNOWN };

static bool test_right(const struct task_grid *expected, const struct task_grid *attempt) {
    for (int k = 0; k < PIPELINE_ATTEMPTS; k++)
        if (task_grid_equal(expected, &attempt[k]))
            return true;
    return false;
}

/* Right when every test has a right attempt. */
static enum verdict judge(const struct task *task, const struct result *result) {
    for (int k = 0; k < task->tests; k++)
        if (!task->sample[task->train + k].output.height)
            return UNKNOWN;
    if (!result->survivors)
        return UNSOLVED;
    for (int k = 0; k < task->tests; k++)
        if (!test_right(&task->sample[task->train + k].output, result->attempt[k]))
            return WRONG;
    return RIGHT;
}

static void print_task(const struct pipeline *pipeline, int k, enum verdict verdict) {
    static const char *const words[] = {"right", "wrong", "unsolved", "unknown"};
    const struct result *result = &pipeline->results[k];
    const struct candidate_list *list = &pipeline->candidates[k];
    const char *solver = result->best < 0 ? "-" : list->candidate[result->best].solver->name;
    printf("%s %-8s %-17s samples %d candidates %d survivors %d", pipeline->tasks.task[k].id,
           words[verdict], solver, result->samples, list->n, result->survivors);
    if (result->timeouts)
        printf(" timed out %d", result->timeouts);
    printf("\n");
}

int phase_validation(struct pipeline *pipeline) {
    int right = 0, judged = 0, samples = 0, timeouts = 0;
    for (int k = 0; k < pipeline->tasks.n; k++) {
        enum verdict verdict = judge(&pipeline->tasks.task[k], &pipeline->results[k]);
        print_task(pipeline, k, verdict);
        right += verdict == RIGHT;
        judged += verdict != UNKNOWN;
        samples += pipeline->results[k].samples;
        timeouts += pipeline->results[k].timeouts;
    }
    printf("tasks %d samples %d timed out %d\n", pipeline->tasks.n, samples, timeouts);
    printf("accuracy %d/%d %.2f%%\n", right, judged, judged ? 100.0 * right / judged : 0.0);
    return fflush(stdout) ? complain(pipeline, -errno, "standard output: %s", strerror(errno)) : 0;
}

void pipeline_fini(struct pipeline *pipeline) {
    for (int k = 0; pipeline->candidates && k < pipeline->tasks.n; k++)
        candidates_fini(&pipeline->candidates[k]);
    free(pipeline->candidates);
    free(pipeline->results);
    task_list_fini(&pipeline->tasks);
}
