/* SPDX-License-Identifier: MIT
 *
 * The pipeline's four phases in order. Each takes what the one before left in struct pipeline.
 */
#pragma once

#include "dsl/solver.h"

#define PIPELINE_ATTEMPTS 2 /* guesses per test, as ARC allows */

struct options {
    const char *data; /* folder, or NULL: generated tasks */
    const char *dump; /* folder to write the tasks to, or NULL */
    const char *log;  /* file, or NULL */
    const char **ids; /* only these, in the order of the tasks */
    int id_count;
    int generate;
    int count; /* -1: all */
    int start;
    int threads;
    int processes;
    uint64_t seed;
    double timeout; /* seconds per sample */
    bool timing;
    bool gpu;
    enum dsl_gpu_mode gpu_mode;
};

/* What solver execution found out about one task: flat, so that a worker process can send it. */
struct result {
    int task;
    bool done;
    int survivors; /* candidates right on every train pair */
    int best;      /* the first of them, or -1 */
    int samples;
    int timeouts; /* samples that ran into the time limit */
    int64_t nanoseconds;
    /* Guesses; height 0: none. */
    struct task_grid attempt[TASK_TESTS_MAX][PIPELINE_ATTEMPTS];
};

struct pipeline {
    const struct options *options;
    struct task_list tasks;
    struct candidate_list *candidates; /* per task */
    struct result *results;            /* per task */
    char error[TASK_ERROR_MAX];
};

/* 0 or -errno with a sentence in error. */
int phase_data_loading(struct pipeline *pipeline);
int phase_code_generation(struct pipeline *pipeline);
int phase_solver_execution(struct pipeline *pipeline);
/* Prints a line per task and the accuracy. */
int phase_validation(struct pipeline *pipeline);
void pipeline_fini(struct pipeline *pipeline);

/* One task, which has that id, by every candidate; safe from any thread with an arena and a gpu (or
 * NULL) of its own. */
void batt(const char *id, const struct pipeline *pipeline, int task, struct dsl_arena *arena,
          struct dsl_gpu *gpu, struct result *result);

/* One sample of it: candidates that are not right are struck out, or those left make attempts. True
 * if the time ran out. */
struct execution;
bool run_sample(struct execution *execution, int sample, struct task_grid *attempt);

/* Candidates of a task that a device has done, for all samples. */
#define BATCHES 7 /* per task, as the real pipeline has */
struct batches {
    int n, samples;
    int candidate[BATCHES];
    struct task_grid *memory; /* the inputs, then the results of each batch */
};
void batches_make(struct batches *batches, struct dsl_gpu *gpu, const struct task *task,
                  const struct candidate_list *list);
/* The result of a candidate, or NULL if it was in no batch. */
const struct task_grid *batches_find(const struct batches *batches, int candidate, int sample);
void batches_fini(struct batches *batches);

/* Tasks first, first + stride, … by that many threads; done is called on those threads, one at a
 * time. Returns 0 or -errno. */
int pool_execute(struct pipeline *pipeline, int first, int stride,
                 int (*done)(void *context, const struct result *result), void *context);

/* Runs the pipeline with forked workers, results through pipes. */
int workers_execute(struct pipeline *pipeline);
