/* SPDX-License-Identifier: MIT
 *
 * plan LOAD PROCESSES THREADS TASKS MICROSECONDS [SLOW...]: loads for so many microseconds, then
 * every process has so many threads that take that many tasks together, each of twice the
 * microseconds; the tasks with the numbers SLOW take 15 times as long.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tasks/subjects/pipeline.h"

#define SLOWNESS 15
#define MOST_THREADS 8

static struct {
    int process;
    int tasks;
    int microseconds;
    char **slow;
    atomic_int next;
} state;

static int steps(int task) {
    for (char **slow = state.slow; *slow; slow++)
        if (atoi(*slow) == task)
            return SLOWNESS;
    return 1;
}

static void *run_tasks(void *nothing) {
    char id[32];
    for (int task; (task = atomic_fetch_add(&state.next, 1)) < state.tasks;) {
        snprintf(id, sizeof(id), "%d-%d", state.process, task);
        batt(id, steps(task), state.microseconds);
    }
    return nothing;
}

static void run_process(int threads) {
    pthread_t list[MOST_THREADS];
    for (int i = 1; i < threads; i++)
        pthread_create(&list[i], NULL, run_tasks, NULL);
    run_tasks(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(list[i], NULL);
}

int main(int argc, char **argv) {
    if (argc < 6 || atoi(argv[3]) > MOST_THREADS)
        return 2;
    state.tasks = atoi(argv[4]);
    state.microseconds = atoi(argv[5]);
    state.slow = argv + 6;
    load_data(atoi(argv[1]));
    for (int i = 1; i < atoi(argv[2]); i++)
        if (fork() == 0) {
            state.process = i;
            run_process(atoi(argv[3]));
            return 0;
        }
    run_process(atoi(argv[3]));
    while (wait(NULL) > 0)
        ;
    return 0;
}
