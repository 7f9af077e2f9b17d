/* SPDX-License-Identifier: MIT
 *
 * Runs until it is killed. Each of 64 threads counts the calls that have returned to it, in the
 * mapped file `returned`; the last four block in work_block for ever. Prints a line when all are
 * at it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

#define THREADS 64
#define BLOCKED 4

static volatile uint64_t *returned; /* one cache line for each thread */
static int fds[2];

static void *run(void *arg) {
    long me = (long)arg;
    if (me >= THREADS - BLOCKED) {
        returned[8 * me + 1] = (uint64_t)gettid(); /* about to block */
        work_block(fds[0]);
        return NULL;
    }
    for (uint64_t i = 1;; i++) {
        work_add(1, 2);
        returned[8 * me] = i;
    }
}

/* Whether a thread sleeps: where the others take all processors, it may take long to come there. */
static int is_blocked(uint64_t tid) {
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    int found = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return found == 1 && state == 'S';
}

static int all_at_work(void) {
    for (long i = 0; i < THREADS - BLOCKED; i++)
        if (!returned[8 * i])
            return 0;
    for (long i = THREADS - BLOCKED; i < THREADS; i++)
        if (!returned[8 * i + 1] || !is_blocked(returned[8 * i + 1]))
            return 0;
    return 1;
}

int main(int argc, char **argv) {
    int fd = open("returned", O_RDWR | O_CREAT, 0644);
    pthread_t t;
    if (ftruncate(fd, 64 * THREADS))
        return 1;
    returned = mmap(NULL, 64 * THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pipe(fds))
        return 1;
    alarm(600); /* should nobody kill it */
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t, NULL, run, (void *)i);
    while (!all_at_work())
        usleep(1000);
    usleep(300000);
    (void)!write(1, "at work\n", 8);
    if (argc > 1 && !strcmp(argv[1], "exit"))
        _exit(21); /* leaves in the middle by itself */
    pause();
    return 0;
}
