/* SPDX-License-Identifier: MIT
 *
 * forced NAME before|after: a thread of the parent is stopped at the step NAME of profile/stop.h
 * while another forks: before the fork, or after it and before the child has moved out. The child
 * then does all that a process can. Status 0 if the step was reached and the child ended in order.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profile/stop.h"
#include "tests/core/subjects/fork_bare.h"
#include "tests/core/subjects/work.h"

#define PATIENCE_S 5
#define APART (1l << 30)

static const struct {
    const char *name;
    int locked;
} points[] = {
#define X(name, locked) {#name, locked},
    BP_STOPS(X)
#undef X
};

static struct bp_stops *stops;

static void nothing(void *unused) {
    (void)unused;
    work_empty();
}

/* More contexts than a page of nodes has. */
static void contexts(void) {
    work_add(1, 2);
    work_sub(1, 2);
    work_tail(1, 2);
    work_even(3);
    work_call(nothing, NULL);
    work_nest(3, nothing, NULL);
    work_depth(2);
}

static void *thread(void *unused) {
    contexts();
    work_nest(200, nothing, NULL); /* more entries than a page has */
    return unused;
}

/* Grows everything: its own segment, entries, functions, and with these the file. */
static void *victim(void *unused) {
    pthread_t threads[8];
    thread(unused);
    dlclose(dlopen("libdsllate.so", RTLD_NOW));
    for (unsigned i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return NULL;
}

static void child(void) {
    pthread_t threads[3];
    contexts();
    for (unsigned i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
            _exit(2);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    work_nest(100, nothing, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        contexts();
        _exit(0);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    _exit(status == 0 ? 0 : 3);
}

static int wait_until_reached(const struct bp_stops *what) {
    for (int i = 0; i < PATIENCE_S * 5000; i++, bare_pause())
        if (__atomic_load_n(&what->reached, __ATOMIC_SEQ_CST))
            return 1;
    return 0;
}

static void let_go(struct bp_stops *what) {
    __atomic_store_n(&what->point, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&what->go, 1, __ATOMIC_SEQ_CST);
}

static unsigned find(const char *name) {
    for (unsigned i = 0; i < BP_STOP_POINTS_COUNT; i++)
        if (strcmp(points[i].name, name) == 0)
            return i;
    exit(4);
}

static pid_t forked(void) {
    pid_t pid = fork();
    if (pid == 0)
        child();
    return pid;
}

int main(int argc, char **argv) {
    struct bp_stops **place = dlsym(RTLD_DEFAULT, "battprof_stops");
    int before = argc > 2 && strcmp(argv[2], "before") == 0, reached = 1;
    pthread_t other;
    if (!place && getenv("BATTPROF_DIR"))
        return 5; /* not the test's build of the library */
    stops = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    contexts();
    if (place) {
        *place = stops;
        stops->thread = (int)bare(SYS_gettid, 0, 0, 0, 0);
        stops->point = find(argv[1]) + 1;
        stops[1].point = before ? 0 : BP_STOP_CHILD + 1;
    }
    pid_t pid = 0;
    if (!before) {
        pid = forked();
        reached = !place || wait_until_reached(&stops[1]);
    }
    /* What the parent maps from now on is where the child has nothing. */
    mmap(NULL, APART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&other, NULL, victim, NULL);
    reached = reached && (!place || wait_until_reached(&stops[0]));
    if (before)
        pid = forked();
    let_go(&stops[1]);
    int status = bare_wait(pid, 2 * PATIENCE_S);
    let_go(&stops[0]);
    pthread_join(other, NULL);
    if (!reached)
        fprintf(stderr, "%s was not reached\n", argv[1]);
    if (status)
        fprintf(stderr, "%s: the child's status is %d\n", argv[1], status);
    return !reached || status;
}
