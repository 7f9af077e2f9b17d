/* SPDX-License-Identifier: MIT
 *
 * lengths KIND PLACES FILE: one task for each line of the file, which says how many microseconds it
 * takes. KIND is "spin" or "sleep", in so many threads, or "fork", which sleeps in so many
 * processes that take the next task from a shared counter.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/battprof.h"

#define MOST_PLACES 16
#define MOST_TASKS 10000

static struct {
    long us[MOST_TASKS];
    int count;
    int spins;
    atomic_int *next; /* shared with forked processes */
} state;

/* CPU time: what others take of the CPU is no part of the task. */
static void spin(long us) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    long long end = now.tv_sec * 1000000000LL + now.tv_nsec + us * 1000LL;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

static void pause_us(long us) {
    struct timespec length = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&length, NULL);
}

static void *run_tasks(void *nothing) {
    char id[32];
    for (int task; (task = atomic_fetch_add(state.next, 1)) < state.count;) {
        snprintf(id, sizeof(id), "task%04d", task);
        battprof_task_begin(id);
        if (state.spins)
            spin(state.us[task]);
        else
            pause_us(state.us[task]);
        battprof_task_end(0);
    }
    return nothing;
}

static void run_threads(int places) {
    pthread_t list[MOST_PLACES];
    for (int i = 1; i < places; i++)
        pthread_create(&list[i], NULL, run_tasks, NULL);
    run_tasks(NULL);
    for (int i = 1; i < places; i++)
        pthread_join(list[i], NULL);
}

static void run_processes(int places) {
    for (int i = 0; i < places; i++)
        if (fork() == 0) {
            run_tasks(NULL);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static int read_lengths(const char *path) {
    FILE *file = fopen(path, "r");
    while (file && state.count < MOST_TASKS && fscanf(file, "%ld", &state.us[state.count]) == 1)
        state.count++;
    return file ? fclose(file) : -1;
}

int main(int argc, char **argv) {
    int places = argc == 4 ? atoi(argv[2]) : 0;
    if (places < 1 || places > MOST_PLACES || read_lengths(argv[3]) != 0)
        return 2;
    state.next =
        mmap(NULL, sizeof(*state.next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state.next == MAP_FAILED)
        return 1;
    state.spins = strcmp(argv[1], "spin") == 0;
    if (strcmp(argv[1], "fork") == 0)
        run_processes(places);
    else
        run_threads(places);
    return 0;
}
