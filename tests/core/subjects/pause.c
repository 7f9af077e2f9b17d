/* SPDX-License-Identifier: MIT
 *
 * A program that starts and stops its own recording: it knows how many calls it made meanwhile.
 * Hooked calls that are to be recorded are work_sub, others work_add.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "include/battprof.h"
#include "work.h"

#define THREADS 8
#define CALLS 10

static volatile int over;
static jmp_buf out;
static pthread_barrier_t opened, stopped;

static void add(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++)
        work_even(2);
}

static void *call_all_the_time(void *unused) {
    while (!over) {
        work_call(add, NULL);
        work_nest(3, add, NULL);
    }
    return unused;
}

static void stretch(void) {
    battprof_start();
    for (int i = 0; i < CALLS; i++)
        work_sub(i, 1);
    battprof_stop();
    for (int i = 0; i < CALLS; i++) /* of a function that is known, and of one that is not */
        work_add(work_sub(i, 1), 1);
}

static int storm(int times, int count) {
    pthread_t threads[THREADS];
    battprof_stop();
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, call_all_the_time, NULL);
    for (int i = 0; i < times; i++)
        stretch();
    over = 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void wait_within(void *unused) {
    (void)unused;
    pthread_barrier_wait(&opened);
    pthread_barrier_wait(&stopped);
}

static void *call_over_a_stop(void *returns_late) {
    work_call(wait_within, NULL);
    if (returns_late)
        pthread_barrier_wait(&opened);
    work_sub(1, 1);
    return NULL;
}

/* Calls are open on several threads when recording stops; they return in the pause, or, of `late`
 * ones, the threads make another call when it is over. */
static int open_calls(int late) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&opened, NULL, THREADS + 1);
    pthread_barrier_init(&stopped, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_over_a_stop, late ? &out : NULL);
    pthread_barrier_wait(&opened);
    battprof_stop();
    work_sleep(0.3);
    if (late)
        battprof_start();
    pthread_barrier_wait(&stopped);
    if (late)
        pthread_barrier_wait(&opened);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void stop_and_jump(void *how) {
    battprof_stop();
    if (*(const char *)how == 'b') /* back on before the jump */
        battprof_start();
    longjmp(out, 1);
}

static int jump(const char *how) {
    for (volatile int i = 0; i < 50; i++) {
        battprof_start();
        if (setjmp(out) == 0)
            work_nest(2, stop_and_jump, (void *)how);
        battprof_start();
        work_sub(1, 1);
    }
    return 0;
}

/* A child of a paused process is paused; it starts itself. What it becomes by exec follows the run.
 */
static int forks(char *self) {
    battprof_stop();
    for (int i = 0; i < 5; i++)
        if (fork() == 0) {
            work_add(1, 1);
            stretch();
            if (i == 0)
                execl(self, self, "calls", (char *)NULL);
            _exit(0);
        }
    while (wait(NULL) > 0)
        work_add(1, 1);
    return 0;
}

static int killed(void) {
    work_sub(1, 1);
    battprof_mark("before\tthe end");
    battprof_stop();
    work_sleep(0.3);
    return raise(SIGKILL);
}

/* For others to start and stop. */
static void forever(void) {
    puts("at work");
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, call_all_the_time, NULL);
    for (;;)
        work_busy(0.01);
}

int main(int count, char **argument) {
    const char *mode = count > 1 ? argument[1] : "calls";
    if (strcmp(mode, "storm") == 0)
        return storm(atoi(argument[2]), atoi(argument[3]));
    if (strcmp(mode, "open") == 0)
        return open_calls(atoi(argument[2]));
    if (strcmp(mode, "jump") == 0)
        return jump(argument[2]);
    if (strcmp(mode, "fork") == 0)
        return forks(argument[0]);
    if (strcmp(mode, "killed") == 0)
        return killed();
    if (strcmp(mode, "forever") == 0)
        forever();
    for (int i = 0; i < 7; i++)
        work_sub(1, 1);
    return 0;
}
