/* SPDX-License-Identifier: MIT
 *
 * Calls of the C runtime that battprof watches: locks, file I/O, processes, threads, dlsym. Obeys
 * lines "OPERATION COUNT" on stdin and answers with nanoseconds per operation, as calls.c does.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/functions.h"

#define FILE_SIZE 32768 /* bytes; the offset goes back to 0 after as many calls */

static struct {
    pthread_mutex_t mutex;
    int file;
    int pipe[2];
    long bad; /* operations that failed */
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *nothing(void *argument) {
    return argument;
}

static void lock_unlock(long i) {
    (void)i;
    state.bad += pthread_mutex_lock(&state.mutex) != 0;
    state.bad += pthread_mutex_unlock(&state.mutex) != 0;
}

static void read_file(long i) {
    char byte;
    if (i % FILE_SIZE == 0)
        lseek(state.file, 0, SEEK_SET);
    state.bad += read(state.file, &byte, 1) != 1;
}

static void write_file(long i) {
    if (i % FILE_SIZE == 0)
        lseek(state.file, 0, SEEK_SET);
    state.bad += write(state.file, "", 1) != 1;
}

static void write_read_pipe(long i) {
    char byte = (char)i;
    state.bad += write(state.pipe[1], &byte, 1) != 1;
    state.bad += read(state.pipe[0], &byte, 1) != 1;
}

static void fork_wait(long i) {
    (void)i;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    state.bad += pid < 0 || waitpid(pid, NULL, 0) != pid;
}

static void create_join(long i) {
    pthread_t thread;
    (void)i;
    state.bad +=
        pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

static void look_up(long i) {
    (void)i;
    state.bad += dlsym(RTLD_DEFAULT, "dsl_01") == NULL;
}

static const struct {
    const char *name;
    void (*run)(long i);
} operations[] = {
    {"mutex", lock_unlock},    {"read", read_file}, {"write", write_file},
    {"pipe", write_read_pipe}, {"fork", fork_wait}, {"thread", create_join},
    {"dlsym", look_up},
};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(const char *name, long count) {
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        if (strcmp(operations[k].name, name) != 0)
            continue;
        double start = now_ns();
        for (long i = 0; i < count; i++)
            operations[k].run(i);
        return (now_ns() - start) / (double)count;
    }
    return -1;
}

static int open_all(void) {
    char path[] = "/tmp/battprof-bench-XXXXXX", zeros[FILE_SIZE] = "";
    state.file = mkstemp(path);
    unlink(path);
    return state.file >= 0 && write(state.file, zeros, FILE_SIZE) == FILE_SIZE &&
           pipe(state.pipe) == 0;
}

int main(void) {
    char name[16];
    long count;
    if (!open_all() || dsl_00(0) != 1) /* the call keeps the library linked, for dlsym */
        return 1;
    while (scanf("%15s %ld", name, &count) == 2) {
        double ns = measure(name, count);
        if (ns < 0 || state.bad)
            return 1;
        printf("%.3f 100\n", ns);
        fflush(stdout);
    }
    return 0;
}
