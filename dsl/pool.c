/* SPDX-License-Identifier: MIT
 *
 * A pool of threads over a bounded queue of task numbers: the caller feeds it, each thread takes
 * one task at a time with an arena of its own. With one thread the caller does the work itself.
 */
#include "dsl/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Enough that the feeder is never what a thread waits for. */
#define QUEUE_ROOM 64

struct pool {
    struct pipeline *pipeline;
    int (*done)(void *context, const struct result *result);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int queue[QUEUE_ROOM];
    int head, count;
    bool closed;
    int status; /* the first error */
};

static void queue_push(struct pool *pool, int task) {
    pthread_mutex_lock(&pool->lock);
    while (pool->count == QUEUE_ROOM)
        pthread_cond_wait(&pool->emptied, &pool->lock);
    pool->queue[(pool->head + pool->count++) % QUEUE_ROOM] = task;
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

/* -1 when the queue is empty and stays so. */
static int queue_pop(struct pool *pool) {
    int task = -1;
    pthread_mutex_lock(&pool->lock);
    while (!pool->count && !pool->closed)
        pthread_cond_wait(&pool->filled, &pool->lock);
    if (pool->count) {
        task = pool->queue[pool->head];
        pool->head = (pool->head + 1) % QUEUE_ROOM;
        pool->count--;
        pthread_cond_signal(&pool->emptied);
    }
    pthread_mutex_unlock(&pool->lock);
    return task;
}

static void queue_close(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    pthread_cond_broadcast(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

static void hand_over(struct pool *pool, int status, const struct result *result) {
    pthread_mutex_lock(&pool->lock);
    if (!status)
        status = pool->done(pool->context, result);
    if (!pool->status)
        pool->status = status;
    pthread_mutex_unlock(&pool->lock);
}

/* Here, not earlier: a device cannot be used across fork. */
static struct dsl_gpu *open_gpu(const struct options *options) {
    return options->gpu ? dsl_gpu_new(options->gpu_mode) : NULL;
}

static void run_task(struct pool *pool, int task, struct dsl_arena *arena, struct dsl_gpu *gpu,
                     struct result *result) {
    batt(pool->pipeline->tasks.task[task].id, pool->pipeline, task, arena, gpu, result);
}

/* Without memory it still empties the queue, or the feeder would wait for ever. */
static void *pool_thread(void *argument) {
    struct pool *pool = argument;
    struct dsl_arena *arena = dsl_arena_new();
    struct dsl_gpu *gpu = open_gpu(pool->pipeline->options);
    struct result *result = malloc(sizeof(*result));
    int status = arena && result ? 0 : -ENOMEM;
    for (int task = queue_pop(pool); task >= 0; task = queue_pop(pool)) {
        if (!status)
            run_task(pool, task, arena, gpu, result);
        hand_over(pool, status, result);
    }
    free(result);
    dsl_gpu_free(gpu);
    dsl_arena_free(arena);
    return NULL;
}

static int execute_alone(struct pool *pool, int first, int stride) {
    struct dsl_arena *arena = dsl_arena_new();
    struct dsl_gpu *gpu = open_gpu(pool->pipeline->options);
    struct result *result = malloc(sizeof(*result));
    int status = arena && result ? 0 : -ENOMEM;
    for (int task = first; !status && task < pool->pipeline->tasks.n; task += stride) {
        run_task(pool, task, arena, gpu, result);
        status = pool->done(pool->context, result);
    }
    free(result);
    dsl_gpu_free(gpu);
    dsl_arena_free(arena);
    return status;
}

int pool_execute(struct pipeline *pipeline, int first, int stride,
                 int (*done)(void *context, const struct result *result), void *context) {
    struct pool pool = {.pipeline = pipeline,
                        .done = done,
                        .context = context,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .filled = PTHREAD_COND_INITIALIZER,
                        .emptied = PTHREAD_COND_INITIALIZER};
    int wanted = pipeline->options->threads, started = 0;
    if (wanted == 1)
        return execute_alone(&pool, first, stride);
    pthread_t *threads = calloc((size_t)wanted, sizeof(*threads));
    while (threads && started < wanted &&
           !pthread_create(&threads[started], NULL, pool_thread, &pool))
        started++;
    if (!started)
        pool.status = -EAGAIN;
    for (int task = first; started && task < pipeline->tasks.n; task += stride)
        queue_push(&pool, task);
    queue_close(&pool);
    for (int k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    free(threads);
    return pool.status;
}
