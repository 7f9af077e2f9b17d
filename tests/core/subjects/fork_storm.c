/* SPDX-License-Identifier: MIT
 *
 * storm SECONDS SEED: threads come and go, signals arrive, and children are made in every way that
 * there is, until the time is over. A child works, starts threads, forks, becomes another program
 * or is killed. Prints how many children there were. Status 1 if one died, 2 if one hung.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/core/subjects/fork_bare.h"
#include "tests/core/subjects/work.h"

#define PATIENCE_S 30
#define STACK (256 << 10)

extern char **environ;
pid_t _Fork(void) __attribute__((weak));

static struct {
    double end;
    uint64_t seed;
    int over;
    int children, died, hung;
    const char *program;
    int bare; /* a child in which libc's handlers did not run: its locks may be held for ever */
} state;

static __thread uint64_t chance;

static unsigned random_below(unsigned limit) {
    if (!chance)
        chance = __atomic_add_fetch(&state.seed, 0x9e3779b97f4a7c15, __ATOMIC_RELAXED) | 1;
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance >> 33) % limit;
}

static void nothing(void *unused) {
    (void)unused;
    work_empty();
}

static void *some_calls(void *unused) {
    for (unsigned i = random_below(20); i-- > 0;)
        work_add(1, (int)i);
    work_nest(1 + (int)random_below(80), nothing, NULL);
    work_even(4);
    return unused;
}

static void handler(int number) {
    int saved = errno;
    work_sub(number, 1);
    errno = saved;
}

static void some_threads(unsigned count) {
    pthread_t threads[4];
    unsigned begun = 0;
    for (; begun < count; begun++)
        if (pthread_create(&threads[begun], NULL, some_calls, NULL) != 0)
            break;
    while (begun-- > 0)
        pthread_join(threads[begun], NULL);
}

static int spawned(pid_t *pid) {
    char *arguments[] = {(char *)state.program, "leaf", NULL};
    return posix_spawn(pid, state.program, NULL, NULL, arguments, environ);
}

static void live(int depth);

static int cloned(void *depth) {
    state.bare = 1;
    live(*(int *)depth);
    return 0;
}

static pid_t by_clone(int *depth) {
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t pid = clone(cloned, stack + STACK, SIGCHLD, depth);
    munmap(stack, STACK);
    return pid;
}

/* No handler of the profiler runs: it leaves the child alone. Nothing that is counted is called but
 * what the parent is in the middle of. */
static pid_t unseen(void) {
    pid_t pid = bare_fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            getppid();
        bare_exit(0);
    }
    return pid;
}

static pid_t new_child(int depth) {
    pid_t pid = -1;
    switch (random_below(8)) {
    case 0:
        if (spawned(&pid) != 0)
            return -1;
        return pid;
    case 1:
        return by_clone(&depth);
    case 2:
        pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        state.bare |= pid == 0;
        break;
    case 3:
        return unseen();
    case 4:
        pid = _Fork ? _Fork() : fork();
        state.bare |= pid == 0;
        break;
    default:
        pid = fork();
    }
    if (pid == 0)
        live(depth);
    return pid;
}

/* A child that is to be killed exits with 9 where others would with 0: by its own hand. */
static void reap(pid_t pid) {
    int status = -1;
    if (pid < 0)
        return;
    __atomic_fetch_add(&state.children, 1, __ATOMIC_RELAXED);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        __atomic_fetch_add(&state.hung, 1, __ATOMIC_RELAXED);
    else if (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
        __atomic_fetch_add(&state.died, 1, __ATOMIC_RELAXED);
}

static void end_somehow(int status) {
    char *arguments[] = {(char *)state.program, "leaf", NULL};
    if (status == 0 && random_below(6) == 0)
        execv(state.program, arguments);
    if (status == 0 && random_below(6) == 0)
        kill(getpid(), SIGKILL);
    if (state.bare || random_below(2))
        _exit(status);
    exit(status);
}

static void live(int depth) {
    alarm(PATIENCE_S);
    chance = 0;
    state.seed ^= (uint64_t)getpid() << 20;
    state.children = state.died = state.hung = 0;
    some_calls(NULL);
    some_threads(state.bare ? 0 : random_below(3));
    if (depth < 2 && !state.bare && random_below(4) == 0)
        reap(new_child(depth + 1));
    some_calls(NULL);
    end_somehow(state.died ? 1 : state.hung ? 2 : 0);
}

static int going_on(void) {
    return !__atomic_load_n(&state.over, __ATOMIC_RELAXED);
}

static void fork_inside(void *unused) {
    (void)unused;
    reap(new_child(0));
}

static void *forks(void *unused) {
    while (going_on())
        if (random_below(3) == 0)
            work_call(fork_inside, NULL);
        else
            reap(new_child(0));
    return unused;
}

static void *comes_and_goes(void *unused) {
    while (going_on())
        some_threads(1 + random_below(3));
    return unused;
}

static void *sends_signals(void *unused) {
    while (going_on()) {
        kill(getpid(), SIGUSR1);
        bare_pause();
    }
    return unused;
}

int main(int argc, char **argv) {
    void *(*parts[])(void *) = {forks, forks, comes_and_goes, comes_and_goes, sends_signals};
    pthread_t threads[sizeof parts / sizeof *parts];
    state.program = argv[0];
    some_calls(NULL);
    if (argc < 3)
        return 0;
    state.seed = strtoull(argv[2], NULL, 10);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    state.end = now_s() + atof(argv[1]);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        pthread_create(&threads[i], NULL, parts[i], NULL);
    while (now_s() < state.end)
        usleep(10000);
    state.over = 1;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        pthread_join(threads[i], NULL);
    printf("%d children\n", state.children);
    return state.died ? 1 : state.hung ? 2 : 0;
}
