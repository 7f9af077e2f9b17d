/* SPDX-License-Identifier: MIT
 *
 * Does what makes the library ask for memory, files and timers: contexts, deep calls, threads, a
 * library that comes late, forked and spawned children, running for some samples. What it prints
 * must not depend on any of that being granted. `leaf`: what the spawned child does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core/subjects/work.h"

#define THREADS 3
#define DEEP 300 /* more entries than the first two pages have */
#define RUN_S 0.003

extern char **environ;

static void nothing(void *unused) {
    (void)unused;
    work_empty();
}

static int contexts(void) {
    int sum = work_add(1, 2) + work_sub(7, 2) + work_tail(1, 2) + work_even(3);
    work_call(nothing, NULL);
    work_nest(3, nothing, NULL);
    return sum + (int)work_depth(2);
}

static void *run_thread(void *result) {
    *(int *)result = contexts();
    work_nest(DEEP, nothing, NULL);
    work_busy(RUN_S);
    return NULL;
}

static int run_threads(void) {
    pthread_t threads[THREADS];
    int sums[THREADS], sum = 0;
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_thread, &sums[i]))
            return -1;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    return sum;
}

static int reap(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static int fork_child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        int sum = contexts();
        work_busy(RUN_S);
        _exit(run_threads() == THREADS * sum ? sum : 99);
    }
    return reap(pid);
}

static int spawn_child(const char *self) {
    pid_t pid;
    char *arguments[] = {(char *)self, (char *)"leaf", NULL};
    return posix_spawn(&pid, self, NULL, NULL, arguments, environ) ? -1 : reap(pid);
}

static int open_late(void) {
    void *late = dlopen("libdsllate.so", RTLD_NOW);
    int (*function)(int) = late ? (int (*)(int))dlsym(late, "late_both") : NULL;
    return function ? function(1) : -1;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "leaf") == 0)
        return contexts();
    errno = EXDEV;
    int sum = contexts();
    int kept = errno == EXDEV;
    work_busy(RUN_S);
    printf("contexts %d, errno %s\n", sum, kept ? "kept" : "lost");
    printf("threads %d\n", run_threads());
    printf("late %d\n", open_late());
    fflush(stdout);
    printf("forked %d\n", fork_child());
    printf("spawned %d\n", spawn_child(argv[0]));
    return 5;
}
