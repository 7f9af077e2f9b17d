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
        returned[8 * me + 1] = 1; /* about to block */
        work_block(fds[0]);
        return NULL;
    }
    for (uint64_t i = 1;; i++) {
        work_add(1, 2);
        returned[8 * me] = i;
    }
}

static int all_at_work(void) {
    for (long i = 0; i < THREADS; i++)
        if (!returned[8 * i + (i >= THREADS - BLOCKED)])
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
    alarm(60); /* should nobody kill it */
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
