/* SPDX-License-Identifier: MIT
 *
 * Known busy and sleeping times. Every thread notes what it did when — dsl (in the hooked library),
 * run (in this program), wait — in the mapped file `truth`: after the number of bytes,
 * `PID THREAD KIND BEGIN END` in seconds of CLOCK_MONOTONIC. The case computes the ledger and the
 * wall split from that alone and compares. Nothing is left to write when a thread ends: where
 * others want the processor, that could take as long as what was noted.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define TRUTH_SIZE (256 << 10)

struct log {
    int thread;
};

static struct {
    uint64_t used;
    char text[TRUTH_SIZE - sizeof(uint64_t)];
} * truth;

/* Raw system calls: the bookkeeping is not file I/O of the program. */
static void open_truth(void) {
    long fd = syscall(SYS_openat, AT_FDCWD, "truth", O_RDWR | O_CREAT, 0644);
    if (fd < 0 || syscall(SYS_ftruncate, fd, TRUTH_SIZE) != 0)
        abort();
    truth = mmap(NULL, TRUTH_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (truth == MAP_FAILED)
        abort();
    syscall(SYS_close, fd);
}

static void note(const struct log *log, const char *kind, double begin, double end) {
    char line[128];
    size_t length = (size_t)snprintf(line, sizeof line, "%d %d %s %.9f %.9f\n", getpid(),
                                     log->thread, kind, begin, end);
    uint64_t at = __atomic_fetch_add(&truth->used, length, __ATOMIC_RELAXED);
    if (at + length > sizeof truth->text)
        abort();
    memcpy(truth->text + at, line, length);
}

static void dsl(const struct log *log, double seconds) {
    double begin = now_s();
    work_busy(seconds);
    note(log, "dsl", begin, now_s());
}

static void run(const struct log *log, double seconds) {
    double begin = now_s();
    spin_until(begin + seconds);
    note(log, "run", begin, now_s());
}

static void wait_for(const struct log *log, double seconds) {
    double begin = now_s();
    usleep((useconds_t)(seconds * 1e6));
    note(log, "wait", begin, now_s());
}

static void single(const struct log *log) {
    for (int i = 0; i < 10; i++) {
        dsl(log, 0.10);
        wait_for(log, 0.08);
        run(log, 0.06);
    }
}

/* A wait inside a hooked function: the function's own time is only what it ran. */
static void mixed(const struct log *log) {
    for (int i = 0; i < 10; i++) {
        double begin = now_s();
        work_sleep(0.05);
        note(log, "wait", begin, now_s());
        dsl(log, 0.05);
    }
}

/* The first call of a thread registers it, by system calls in which it may lose its CPU for long
 * where threads outnumber processors. That time is not the function's: it has a line of its own. */
static void *dsl_worker(void *arg) {
    struct log log = {.thread = (int)(long)arg};
    double born = now_s();
    work_empty();
    note(&log, "run", born, now_s());
    dsl(&log, 0.1 + 0.1 * (double)log.thread);
    return NULL;
}

static void *run_worker(void *arg) {
    struct log log = {.thread = (int)(long)arg};
    for (int i = 0; i < 4; i++) {
        run(&log, 0.1);
        wait_for(&log, 0.05);
    }
    return NULL;
}

static void *wait_worker(void *arg) {
    struct log log = {.thread = (int)(long)arg};
    wait_for(&log, 0.8);
    return NULL;
}

/* To start threads or processes is work, and where others want the processor it takes long: from
 * `since` on the main thread was busy with it. */
static void join(const struct log *log, double since, pthread_t *threads, int count) {
    note(log, "run", since, now_s());
    double begin = now_s();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    note(log, "wait", begin, now_s());
}

/* The main thread joins its workers: the wall is theirs. */
static void joins(const struct log *log) {
    pthread_t t[2];
    run(log, 0.2);
    double since = now_s();
    pthread_create(&t[0], NULL, dsl_worker, (void *)5);
    join(log, since, t, 1);
    since = now_s();
    pthread_create(&t[0], NULL, run_worker, (void *)6);
    pthread_create(&t[1], NULL, wait_worker, (void *)7);
    join(log, since, t, 2);
}

/* Eight workers with uneven work, from 0.2 to 0.9 s. */
static void pool(const struct log *log) {
    pthread_t t[8];
    double since = now_s();
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, dsl_worker, (void *)(i + 1));
    join(log, since, t, 8);
    run(log, 0.2);
}

/* Threads of different kinds at once. */
static void blend(const struct log *log) {
    pthread_t t[4];
    double since = now_s();
    pthread_create(&t[0], NULL, dsl_worker, (void *)3);
    pthread_create(&t[1], NULL, run_worker, (void *)4);
    pthread_create(&t[2], NULL, dsl_worker, (void *)6);
    pthread_create(&t[3], NULL, wait_worker, (void *)8);
    join(log, since, t, 4);
}

static void workers(const struct log *log, int count) {
    double since = now_s();
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            struct log own = {.thread = 0};
            dsl(&own, 0.2 + 0.1 * i);
            wait_for(&own, 0.1);
            run(&own, 0.1);
            exit(0);
        }
    note(log, "run", since, now_s());
    double begin = now_s();
    while (wait(NULL) > 0)
        ;
    note(log, "wait", begin, now_s());
}

int main(int argc, char **argv) {
    static const struct log log;
    const char *mode = argc > 1 ? argv[1] : "";
    open_truth();
    if (!strcmp(mode, "single"))
        single(&log);
    else if (!strcmp(mode, "mixed"))
        mixed(&log);
    else if (!strcmp(mode, "joins"))
        joins(&log);
    else if (!strcmp(mode, "pool"))
        pool(&log);
    else if (!strcmp(mode, "blend"))
        blend(&log);
    else if (!strcmp(mode, "workers"))
        workers(&log, 4);
    else if (!strcmp(mode, "killme"))
        work_busy(60); /* somebody kills it; nothing is logged */
    else
        return 2;
    puts(mode);
    return 0;
}
