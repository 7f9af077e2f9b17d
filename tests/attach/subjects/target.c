/* SPDX-License-Identifier: MIT
 *
 * `target MODE FILE [PLUGIN]`: does what MODE says until word 0 of FILE is not 0, and counts its
 * rounds in word 1. Then every thread calls work_add a thousand times, and the program prints what
 * it found. Every call that fails, or ends early, is an error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define CALLS 1000
#define CROWD 64
#define MS 1000000L

static struct {
    volatile unsigned *words;
    const char *plugin;
    unsigned errors;
    unsigned handled;
    double first; /* what compute() has to give each time */
} state;

static void must(int fine, const char *what) {
    if (fine)
        return;
    if (__atomic_fetch_add(&state.errors, 1, __ATOMIC_RELAXED) < 10)
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
}

static int goes_on(void) {
    __atomic_fetch_add(&state.words[1], 1, __ATOMIC_RELAXED);
    return !state.words[0];
}

static void call_work(void) {
    for (int i = 0; i < CALLS; i++)
        must(work_add(i, 1) == i + 1, "work_add");
}

static void allocates(void) {
    void *kept[16] = {0};
    for (unsigned i = 0; i % 1024 || goes_on(); i++) {
        free(kept[i % 16]);
        kept[i % 16] = malloc(16 + i % 5000);
        must(kept[i % 16] != NULL, "malloc");
        memset(kept[i % 16], (int)i, 16);
    }
    for (int i = 0; i < 16; i++)
        free(kept[i]);
}

static void sleeps(void) {
    struct timespec time = {.tv_nsec = 50 * MS};
    do {
        double begin = now_s();
        errno = 77;
        must(nanosleep(&time, NULL) == 0, "nanosleep");
        must(now_s() - begin >= 0.05, "nanosleep, early");
        must(errno == 77, "errno");
    } while (goes_on());
}

static void polls(void) {
    do {
        double begin = now_s();
        must(poll(NULL, 0, 40) == 0, "poll");
        must(now_s() - begin >= 0.04, "poll, early");
    } while (goes_on());
}

static void reads(void) {
    int ends[2];
    must(pipe(ends) == 0, "pipe");
    pid_t writer = fork();
    if (writer == 0) {
        struct timespec time = {.tv_nsec = 10 * MS};
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        for (char c = 0; write(ends[1], &c, 1) == 1; c++)
            nanosleep(&time, NULL);
        _exit(0);
    }
    close(ends[1]);
    char c, want = 0;
    do
        must(read(ends[0], &c, 1) == 1 && c == want++, "read");
    while (goes_on());
    close(ends[0]);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
}

static void waits(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    do {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += 30 * MS;
        end.tv_sec += end.tv_nsec / (1000 * MS);
        end.tv_nsec %= 1000 * MS;
        pthread_mutex_lock(&mutex);
        must(pthread_cond_timedwait(&never, &mutex, &end) == ETIMEDOUT, "pthread_cond_timedwait");
        pthread_mutex_unlock(&mutex);
    } while (goes_on());
}

static void epolls(void) {
    struct itimerspec every = {{0, 30 * MS}, {0, 30 * MS}};
    struct epoll_event event = {.events = EPOLLIN};
    uint64_t ticks;
    int timer = timerfd_create(CLOCK_MONOTONIC, 0), fd = epoll_create1(0);
    timerfd_settime(timer, 0, &every, NULL);
    epoll_ctl(fd, EPOLL_CTL_ADD, timer, &event);
    do {
        must(epoll_wait(fd, &event, 1, -1) == 1, "epoll_wait");
        must(read(timer, &ticks, sizeof ticks) == sizeof ticks, "read of a timer");
    } while (goes_on());
    close(timer);
    close(fd);
}

/* Its only thread is in a call that would notice a stop, nearly always. */
static void limits(void) {
    int fd = epoll_create1(0);
    struct epoll_event event;
    do {
        double begin = now_s();
        must(epoll_wait(fd, &event, 1, 40) == 0, "epoll_wait with a limit");
        must(now_s() - begin >= 0.039, "epoll_wait, early");
    } while (goes_on());
    close(fd);
}

/* In vector and in x87 registers; any that is lost changes the result. */
static void computes(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    do {
        double sum = 0;
        long double slow = 1;
        for (int i = 1; i < 20000; i++) {
            sum += sin(i) / i;
            slow = slow * 0.999L + (long double)i / 7;
        }
        double result = sum + (double)slow, first;
        pthread_mutex_lock(&lock);
        first = state.first = state.first != 0 ? state.first : result;
        pthread_mutex_unlock(&lock);
        must(first == result, "a computation");
    } while (goes_on());
}

static void opens(void) {
    do {
        void *handle = dlopen(state.plugin, RTLD_NOW | RTLD_LOCAL);
        must(handle && dlsym(handle, "plugin"), "dlopen");
        must(handle && dlclose(handle) == 0, "dlclose");
        struct timespec moment = {.tv_nsec = 100000};
        nanosleep(&moment, NULL);
    } while (goes_on());
}

static void forks(void) {
    do {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "waitpid");
    } while (goes_on());
}

static void *nothing(void *argument) {
    return argument;
}

static void churns(void) {
    do {
        pthread_t thread;
        void *result = NULL;
        must(pthread_create(&thread, NULL, nothing, &state) == 0, "pthread_create");
        must(pthread_join(thread, &result) == 0 && result == &state, "pthread_join");
    } while (goes_on());
}

static void handle(int number) {
    (void)number;
    int saved = errno;
    char text[2000];
    snprintf(text, sizeof text, "%f", sin(state.handled)); /* takes a while */
    state.handled += text[0] != 0;
    errno = saved;
}

static void handles(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | flags};
    struct itimerval every = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    if (flags & SA_ONSTACK)
        sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    do
        allocates();
    while (!state.handled); /* it may be told to end at once */
    setitimer(ITIMER_REAL, &never, NULL);
}

static void signals(void) {
    handles(0);
}

static void altstack(void) {
    handles(SA_ONSTACK);
}

/* Without SA_RESTART: a signal ends the call, and nothing else does. */
static void interrupted(void) {
    struct sigaction action = {.sa_handler = handle};
    struct itimerval every = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    int ends[2];
    char c;
    must(pipe(ends) == 0, "pipe");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    do {
        unsigned before = state.handled;
        must(read(ends[0], &c, 1) == -1 && errno == EINTR, "a read that a signal ends");
        must(state.handled > before, "EINTR without a signal");
    } while (goes_on());
    setitimer(ITIMER_REAL, &never, NULL);
}

static const struct mode {
    const char *name;
    void (*act)(void);
    int threads;
} modes[] = {
    {"malloc", allocates, 1},
    {"mallocs", allocates, 4},
    {"sleep", sleeps, 1},
    {"poll", polls, 1},
    {"read", reads, 1},
    {"wait", waits, 1},
    {"epoll", epolls, 1},
    {"limit", limits, 1},
    {"compute", computes, 1},
    {"computes", computes, 3},
    {"dlopen", opens, 1},
    {"dlopens", opens, 4},
    {"fork", forks, 1},
    {"churn", churns, 2},
    {"signals", signals, 1},
    {"altstack", altstack, 1},
    {"interrupted", interrupted, 1},
    {"crowd", sleeps, CROWD},
    {"crunch", allocates, CROWD},
};

static void *run(void *argument) {
    ((const struct mode *)argument)->act();
    call_work();
    return NULL;
}

int main(int argc, char **argv) {
    const struct mode *mode = modes, *end = modes + sizeof modes / sizeof *modes;
    while (argc > 2 && mode < end && strcmp(mode->name, argv[1]) != 0)
        mode++;
    if (argc < 3 || mode == end)
        return 2;
    int fd = open(argv[2], O_RDWR);
    state.words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    state.plugin = argc > 3 ? argv[3] : NULL;
    close(fd);
    pthread_t threads[CROWD];
    for (int i = 1; i < mode->threads; i++)
        must(pthread_create(&threads[i], NULL, run, (void *)mode) == 0, "pthread_create");
    run((void *)mode);
    for (int i = 1; i < mode->threads; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %d threads, %u errors\n", mode->name, mode->threads, state.errors);
    return state.errors ? 1 : 7;
}
