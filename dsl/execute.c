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
    bool alive[CANDIDATES_MAX];
};

/* Runs one candidate on one input, in an arena that is empty again. */
static enum program_status run_candidate(struct execution *execution,
                                         const struct candidate *candidate,
                                         const struct task_grid *in, int64_t deadline,
                                         struct task_grid *out) {
    const struct dsl_grid *output;
    dsl_arena_reset(execution->arena);
    const struct dsl_grid *input = dsl_grid_new(execution->arena, in->height, in->width, in->cell);
    if (!input)
        return PROGRAM_FAILED;
    enum program_status status =
        program_run(candidate->program, execution->arena, input, deadline, &output);
    if (status == PROGRAM_DONE && !task_grid_take(out, output))
        status = PROGRAM_FAILED;
    return status;
}

/* Strikes out the candidates that are not right on this pair; true if the time ran out. */
static bool check_sample(struct execution *execution, const struct candidate_list *list,
                         const struct sample *sample) {
    int64_t deadline = monotonic_ns() + execution->limit;
    struct task_grid output;
    bool late = false;
    for (int k = 0; k < list->n; k++) {
        enum program_status status =
            run_candidate(execution, &list->candidate[k], &sample->input, deadline, &output);
        if (status != PROGRAM_DONE || !task_grid_equal(&output, &sample->output))
            execution->alive[k] = false;
        late |= status == PROGRAM_TIMED_OUT;
    }
    return late;
}

static bool attempt_test(struct execution *execution, const struct candidate_list *list,
                         const struct task_grid *input, struct task_grid *attempt) {
    int64_t deadline = monotonic_ns() + execution->limit;
    bool late = false;
    int made = 0;
    for (int k = 0; k < list->n && made < PIPELINE_ATTEMPTS; k++) {
        if (!execution->alive[k])
            continue;
        enum program_status status =
            run_candidate(execution, &list->candidate[k], input, deadline, &attempt[made]);
        late |= status == PROGRAM_TIMED_OUT;
        /* A second guess that equals the first would be wasted. */
        if (status == PROGRAM_DONE && !(made && task_grid_equal(&attempt[0], &attempt[made])))
            made++;
    }
    if (made < PIPELINE_ATTEMPTS)
        attempt[made].height = 0;
    return late;
}

void execute_task(const struct pipeline *pipeline, int index, struct dsl_arena *arena,
                  struct result *result) {
    const struct task *task = &pipeline->tasks.task[index];
    const struct candidate_list *list = &pipeline->candidates[index];
    struct execution execution = {.arena = arena,
                                  .limit = (int64_t)(pipeline->options->timeout * 1e9)};
    memset(execution.alive, 1, sizeof(execution.alive));
    memset(result, 0, sizeof(*result));
    int64_t began = monotonic_ns();
    *result = (struct result){.task = index, .done = true, .best = -1};
    result->samples = task->train + task->tests;
    for (int k = 0; k < task->train; k++)
        result->timeouts += check_sample(&execution, list, &task->sample[k]);
    for (int k = list->n - 1; k >= 0; k--) {
        result->survivors += execution.alive[k];
        result->best = execution.alive[k] ? k : result->best;
    }
    for (int k = 0; k < task->tests; k++)
        result->timeouts += attempt_test(&execution, list, &task->sample[task->train + k].input,
                                         result->attempt[k]);
    result->nanoseconds = monotonic_ns() - began;
}
