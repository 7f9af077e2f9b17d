/* SPDX-License-Identifier: MIT
 *
 * native MODE: tasks with known ids and known calls, see cases/test_native.py.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tasks/subjects/pipeline.h"

static jmp_buf place;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Prints what every task took, as measured from outside. */
static void plain(void) {
    char id[32];
    load_data(1000);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "task-%d", i);
        double before = seconds();
        batt(id, i, 100);
        printf("%.9f\n", seconds() - before);
    }
    dsl_work(3, 0); /* between tasks */
}

static void nested(void) {
    for (int i = 0; i < 4; i++)
        check_batt("outer", 3);
    recurse("deep", 10);
}

static void ids(void) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char longest[200];
    munmap(page + 4096, 4096);
    memcpy(page + 4090, "edge!", 6);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[199] = 0;
    batt(page + 4090, 1, 0);
    batt("a b\tc", 1, 0); /* no text */
    batt(NULL, 1, 0);
    batt((const char *)8, 1, 0);
    batt(page + 4096, 1, 0); /* not there */
    batt("größe", 1, 0);
    batt(longest, 1, 0);
    printf("%.1f\n", solve_number(1.5, 4711, 2.0f));
    run_one(page, "second");
}

static void *worker(void *argument) {
    char id[32];
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof(id), "thread-%d-%d", *(int *)argument, i);
        batt(id, 2, 200);
    }
    return NULL;
}

static void threads(void) {
    pthread_t thread[4];
    int number[4];
    for (int i = 0; i < 4; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, worker, &number[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void processes(void) {
    int number = 9;
    batt("before", 1, 0);
    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        if (fork() == 0) {
            number = i;
            worker(&number);
            exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    batt("after", 1, 0);
}

static void fork_now(void) {
    if (fork() == 0) {
        batt("child", 2, 0);
        exit(0);
    }
    wait(NULL);
}

static void jump(void) {
    longjmp(place, 1);
}

static void leave_process(void) {
    exit(3);
}

static void die(void) {
    batt("inside", 1, 3000);
    kill(getpid(), SIGKILL);
}

static void jumps(void) {
    batt("good", 1, 0);
    if (setjmp(place) == 0)
        unwind("bad", jump);
    batt("good too", 1, 0);
}

static void *end_thread(void *argument) {
    unwind("ended", (void (*)(void))pthread_exit);
    return argument;
}

static void thread_exit(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, end_thread, NULL);
    pthread_join(thread, NULL);
}

static void many(void) {
    char id[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(id, sizeof(id), "%d", i);
        batt(id, 1, 0);
    }
}

static void samples(void) {
    for (int i = 0; i < 5; i++) {
        char id[8] = {(char)('a' + i), 0};
        batt(id, 1, 0);
        run_sample(0); /* of no task */
    }
    for (int i = 1; i < 4; i++)
        check_batt("sampled", i);
}

static void run(int loops) {
    for (volatile int i = 0; i < loops; i++)
        ;
}

static void run_long(void) {
    run(2000000);
}

/* Four fifths of what it runs is in tasks. */
static void *crowd_worker(void *argument) {
    for (int i = 0; i < 60; i++) {
        unwind("crowded", run_long);
        run(500000);
    }
    return argument;
}

/* Threads that take turns on one processor. Prints the seconds that they ran. */
static void crowd(void) {
    struct timespec ran;
    pthread_t thread[4];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, crowd_worker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
    printf("%.6f\n", (double)ran.tv_sec + (double)ran.tv_nsec / 1e9);
}

static void on_signal(int number) {
    (void)number;
    batt("handler", 1, 0);
}

static void raise_it(void) {
    raise(SIGUSR1);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "plain";
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"plain", plain},
                 {"nested", nested},
                 {"ids", ids},
                 {"threads", threads},
                 {"processes", processes},
                 {"jumps", jumps},
                 {"thread_exit", thread_exit},
                 {"many", many},
                 {"samples", samples},
                 {"crowd", crowd}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(mode, modes[i].name) == 0)
            modes[i].run();
    if (strcmp(mode, "exit") == 0)
        unwind("leaving", leave_process);
    if (strcmp(mode, "kill") == 0) {
        batt("done", 2, 0);
        unwind("in flight", die);
    }
    if (strcmp(mode, "fork") == 0)
        unwind("forks", fork_now);
    if (strcmp(mode, "handler") == 0) {
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(SIGUSR1, &action, NULL);
        unwind("interrupted", raise_it);
    }
    printf("ok\n");
    return 0;
}
