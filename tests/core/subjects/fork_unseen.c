/* SPDX-License-Identifier: MIT
 *
 * unseen plain|inside: forks by a system call of its own, which no handler sees. The child calls
 * hooked functions, waits, starts a thread, forks, and jumps out of or returns from what its parent
 * is in the middle of; its calls are in no profile. Then the parent makes 100 calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/core/subjects/fork_bare.h"
#include "tests/core/subjects/work.h"

static pid_t child;

static void nothing(void *unused) {
    (void)unused;
    work_sub(1, 2);
}

static void *thread(void *unused) {
    work_nest(20, nothing, NULL);
    return unused;
}

static void live(void) {
    pthread_t other;
    work_depth(100);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        work_depth(3);
        _exit(0);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    usleep(1000);
    work_nest(3, nothing, NULL);
    if (status)
        bare_exit(3);
}

/* The parent is stopped by its wait, so that its entry is the child's, too. */
static void inside(void *unused) {
    (void)unused;
    child = bare_fork();
    if (child == 0)
        live();
    else
        printf("child: %d\n", bare_wait(child, 10));
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IONBF, 0);
    work_add(0, 1);
    if (argc > 1 && strcmp(argv[1], "inside") == 0)
        work_call(inside, NULL);
    else
        inside(NULL);
    if (child == 0)
        _exit(0);
    for (int i = 0; i < 99; i++)
        work_add(i, 1);
    return 0;
}
