/* SPDX-License-Identifier: MIT
 *
 * Threads that begin and end in every way; one mode per case.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static sem_t ready;
static int pipe_fds[2];
static pthread_key_t key;

static void *short_thread(void *arg) {
    for (int i = 0; i < 10; i++)
        work_add(i, 1);
    return arg;
}

static void sequential(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, short_thread, NULL))
            abort();
        pthread_join(t, NULL);
    }
    puts("sequential");
}

static pthread_barrier_t barrier;

static void *loud_thread(void *arg) {
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < 20000; i++) {
        work_add(1, 2);
        if (i % 100 == 0)
            work_even(3);
    }
    return arg;
}

static void concurrent(void) {
    pthread_t threads[64];
    long sum = 0;
    pthread_barrier_init(&barrier, NULL, 64);
    for (long i = 0; i < 64; i++)
        pthread_create(&threads[i], NULL, loud_thread, (void *)i);
    for (int i = 0; i < 64; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("concurrent %ld\n", sum);
}

static void *detached_thread(void *arg) {
    short_thread(arg);
    sem_post(&ready);
    return NULL;
}

static void detached(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        pthread_create(&t, &attr, detached_thread, NULL);
        sem_wait(&ready);
    }
    puts("detached");
}

static void cleanup(void *arg) {
    work_empty();
    ++*(int *)arg;
}

static int cleaned;

static void *blocked_thread(void *arg) {
    pthread_cleanup_push(cleanup, &cleaned);
    sem_post(&ready);
    work_block(pipe_fds[0]);
    pthread_cleanup_pop(0);
    return arg;
}

static void cancel(void) {
    int cancelled = 0;
    for (int i = 0; i < 10; i++) {
        pthread_t t;
        void *result;
        pthread_create(&t, NULL, blocked_thread, NULL);
        sem_wait(&ready);
        usleep(2000);
        pthread_cancel(t);
        pthread_join(t, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d cleaned %d\n", cancelled, cleaned);
}

static void *async_thread(void *arg) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&ready);
    work_forever();
    return arg;
}

static void cancel_async(void) {
    int cancelled = 0;
    for (int i = 0; i < 10; i++) {
        pthread_t t;
        void *result;
        pthread_create(&t, NULL, async_thread, NULL);
        sem_wait(&ready);
        usleep(2000);
        pthread_cancel(t);
        pthread_join(t, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", cancelled);
}

static void leave_thread(void *arg) {
    pthread_exit(arg);
}

static void *exiting_thread(void *arg) {
    pthread_cleanup_push(cleanup, &cleaned);
    work_nest(5, leave_thread, arg);
    pthread_cleanup_pop(0);
    return NULL;
}

static void exit_inside(void) {
    long sum = 0;
    for (long i = 0; i < 50; i++) {
        pthread_t t;
        void *result;
        pthread_create(&t, NULL, exiting_thread, (void *)i);
        pthread_join(t, &result);
        sum += (long)result;
    }
    printf("exited %ld cleaned %d\n", sum, cleaned);
}

static void key_gone(void *value) {
    for (long i = 0; i < (long)value; i++)
        work_empty();
}

static void *key_thread(void *arg) {
    pthread_setspecific(key, (void *)3);
    work_add(1, 1);
    return arg;
}

/* Destructors of thread-specific data run after the thread function: their calls count too. */
static void keys(void) {
    pthread_key_create(&key, key_gone);
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        pthread_create(&t, NULL, key_thread, NULL);
        pthread_join(t, NULL);
    }
    puts("keys");
}

static void *survivor(void *arg) {
    usleep(50000);
    for (int i = 0; i < 100; i++)
        work_add(i, i);
    puts("survivor");
    return arg;
}

/* The main thread leaves first; the process ends with its last thread, with status 0. */
static void main_leaves(void) {
    pthread_t t;
    pthread_create(&t, NULL, survivor, NULL);
    work_add(1, 2);
    pthread_exit(NULL);
}

static void *exiter(void *arg) {
    short_thread(arg);
    exit(7);
}

static void exit_in_thread(void) {
    pthread_t t;
    pthread_create(&t, NULL, exiter, NULL);
    pthread_join(t, NULL);
}

static void *nested_thread(void *arg) {
    long depth = (long)arg;
    work_add(1, 1);
    if (depth > 0) {
        pthread_t t;
        pthread_create(&t, NULL, nested_thread, (void *)(depth - 1));
        pthread_join(t, NULL);
    }
    return NULL;
}

static void start_thread(void *arg) {
    pthread_t t;
    pthread_create(&t, NULL, nested_thread, (void *)10);
    pthread_join(t, NULL);
    (void)arg;
}

/* Threads made by a thread that is inside a hooked call: each has a tree of its own. */
static void made_inside(void) {
    work_call(start_thread, NULL);
    puts("inside");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"sequential", sequential},
        {"concurrent", concurrent},
        {"detached", detached},
        {"cancel", cancel},
        {"cancel_async", cancel_async},
        {"exit_inside", exit_inside},
        {"keys", keys},
        {"main_leaves", main_leaves},
        {"exit_in_thread", exit_in_thread},
        {"made_inside", made_inside},
    };
    sem_init(&ready, 0, 0);
    if (pipe(pipe_fds))
        return 3;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
