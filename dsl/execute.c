/* SPDX-License-Identifier: MIT
 *
 * Solver execution of one task: every candidate on every train pair, then those that were right
 * each time on the tests. The time limit is per sample and shared by its candidates.
 */
#include "dsl/pipeline.h"

#include <string.h>

struct execution {
    struct dsl_arena *arena;
    int64_t limit;
    const struct candidate_list *list;
    const struct task *task;
    struct batches batches;
    bool alive[CANDIDATES_MAX];
};

/* Runs one candidate on one input, in an arena that is empty again, unless a device has done so. */
static enum program_status run_candidate(struct execution *execution, int candidate, int sample,
                                         int64_t deadline, struct task_grid *out) {
    const struct task_grid *in = &execution->task->sample[sample].input;
    const struct task_grid *ready = batches_find(&execution->batches, candidate, sample);
    const struct dsl_grid *output;
    if (ready) {
        *out = *ready;
        return PROGRAM_DONE;
    }
    dsl_arena_reset(execution->arena);
    const struct dsl_grid *input = dsl_grid_new(execution->arena, in->height, in->width, in->cell);
    if (!input)
        return PROGRAM_FAILED;
    enum program_status status = program_run(execution->list->candidate[candidate].program,
                                             execution->arena, input, deadline, &output);
    if (status == PROGRAM_DONE && !task_grid_take(out, output))
        status = PROGRAM_FAILED;
    return status;
}

/* Strikes out the candidates that are not right on this pair; true if the time ran out. */
static bool check_sample(struct execution *execution, int sample) {
    int64_t deadline = monotonic_ns() + execution->limit;
    struct task_grid output;
    bool late = false;
    for (int k = 0; k < execution->list->n; k++) {
        enum program_status status = run_candidate(execution, k, sample, deadline, &output);
        if (status != PROGRAM_DONE ||
            !task_grid_equal(&output, &execution->task->sample[sample].output))
            execution->alive[k] = false;
        late |= status == PROGRAM_TIMED_OUT;
    }
    return late;
}

static bool attempt_test(struct execution *execution, int sample, struct task_grid *attempt) {
    int64_t deadline = monotonic_ns() + execution->limit;
    bool late = false;
    int made = 0;
    for (int k = 0; k < execution->list->n && made < PIPELINE_ATTEMPTS; k++) {
        if (!execution->alive[k])
            continue;
        enum program_status status = run_candidate(execution, k, sample, deadline, &attempt[made]);
        late |= status == PROGRAM_TIMED_OUT;
        /* A second guess that equals the first would be wasted. */
        if (status == PROGRAM_DONE && !(made && task_grid_equal(&attempt[0], &attempt[made])))
            made++;
    }
    if (made < PIPELINE_ATTEMPTS)
        attempt[made].height = 0;
    return late;
}

bool run_sample(struct execution *execution, int sample, struct task_grid *attempt) {
    return attempt ? attempt_test(execution, sample, attempt) : check_sample(execution, sample);
}

void batt(const char *id, const struct pipeline *pipeline, int index, struct dsl_arena *arena,
          struct dsl_gpu *gpu, struct result *result) {
    (void)id;
    const struct task *task = &pipeline->tasks.task[index];
    const struct candidate_list *list = &pipeline->candidates[index];
    struct execution execution = {.arena = arena,
                                  .list = list,
                                  .task = task,
                                  .limit = (int64_t)(pipeline->options->timeout * 1e9)};
    memset(execution.alive, 1, sizeof(execution.alive));
    memset(result, 0, sizeof(*result));
    int64_t began = monotonic_ns();
    *result = (struct result){.task = index, .done = true, .best = -1};
    result->samples = task->train + task->tests;
    batches_make(&execution.batches, gpu, task, list);
    for (int k = 0; k < task->train; k++)
        result->timeouts += run_sample(&execution, k, NULL);
    for (int k = list->n - 1; k >= 0; k--) {
        result->survivors += execution.alive[k];
        result->best = execution.alive[k] ? k : result->best;
    }
    for (int k = 0; k < task->tests; k++)
        result->timeouts += run_sample(&execution, task->train + k, result->attempt[k]);
    batches_fini(&execution.batches);
    result->nanoseconds = monotonic_ns() - began;
}
