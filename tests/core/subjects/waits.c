/* SPDX-License-Identifier: MIT
 *
 * Blocks for a known time in each of the calls that count as waiting, and in those that count as
 * file I/O. The file `truth` gets `KIND NAME SECONDS` as measured around the call. A helper thread
 * ends each wait; it sleeps with a raw system call, so it does not wait as the profiler sees it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define WAIT_S 0.1
static FILE *truth;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int fds[2], sockets[2];
static volatile int held;

static void raw_sleep(double seconds) {
    struct timespec t = {0, (long)(seconds * 1e9)};
    syscall(SYS_nanosleep, &t, NULL);
}

static void *helper(void *arg) {
    void (*f)(void) = (void (*)(void))arg;
    f();
    return NULL;
}

#define TIMED(kind, name, statement)                                                               \
    do {                                                                                           \
        double begin_ = now_s();                                                                   \
        statement;                                                                                 \
        fprintf(truth, "%s %s %.9f\n", kind, name, now_s() - begin_);                              \
    } while (0)

/* Runs f in a thread, then the statement, timed; joining is not timed and takes no time. */
#define HELPED(f, name, statement)                                                                 \
    do {                                                                                           \
        pthread_t t_;                                                                              \
        held = 0;                                                                                  \
        pthread_create(&t_, NULL, helper, (void *)(f));                                            \
        while (!held)                                                                              \
            ;                                                                                      \
        TIMED("wait", name, statement);                                                            \
        while (held != 2)                                                                          \
            ;                                                                                      \
        pthread_join(t_, NULL);                                                                    \
    } while (0)

#define HELPER(name, before, after)                                                                \
    static void name(void) {                                                                       \
        before;                                                                                    \
        held = 1;                                                                                  \
        raw_sleep(WAIT_S);                                                                         \
        after;                                                                                     \
        held = 2;                                                                                  \
    }

HELPER(hold_mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
HELPER(signal_cond, (void)0,
       (pthread_mutex_lock(&mutex), pthread_cond_signal(&cond), pthread_mutex_unlock(&mutex)))
HELPER(post, (void)0, sem_post(&semaphore))
HELPER(hold_write, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
HELPER(hold_read, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
HELPER(meet, (void)0, pthread_barrier_wait(&barrier))
HELPER(feed_pipe, (void)0, (void)!write(fds[1], "x", 1))
HELPER(feed_socket, (void)0, (void)!write(sockets[1], "x", 1))

static struct timespec in(double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(seconds * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void locks(void) {
    struct timespec t;
    HELPED(hold_mutex, "pthread_mutex_lock", pthread_mutex_lock(&mutex));
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    HELPED(signal_cond, "pthread_cond_wait", pthread_cond_wait(&cond, &mutex);
           pthread_mutex_unlock(&mutex));
    pthread_mutex_lock(&mutex);
    t = in(WAIT_S);
    TIMED("wait", "pthread_cond_timedwait", pthread_cond_timedwait(&cond, &mutex, &t));
    pthread_mutex_unlock(&mutex);
    HELPED(post, "sem_wait", sem_wait(&semaphore));
    t = in(WAIT_S);
    TIMED("wait", "sem_timedwait", sem_timedwait(&semaphore, &t));
    HELPED(hold_write, "pthread_rwlock_rdlock", pthread_rwlock_rdlock(&rwlock));
    pthread_rwlock_unlock(&rwlock);
    HELPED(hold_read, "pthread_rwlock_wrlock", pthread_rwlock_wrlock(&rwlock));
    pthread_rwlock_unlock(&rwlock);
    HELPED(meet, "pthread_barrier_wait", pthread_barrier_wait(&barrier));
}

static void *sleeper(void *arg) {
    raw_sleep(WAIT_S);
    return arg;
}

static void sleeping(void) {
    struct timespec t = {0, (long)(WAIT_S * 1e9)};
    pthread_t thread;
    TIMED("wait", "nanosleep", nanosleep(&t, NULL));
    TIMED("wait", "clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL));
    TIMED("wait", "usleep", usleep(100000));
    TIMED("wait", "sleep", sleep(1));
    pthread_create(&thread, NULL, sleeper, NULL);
    TIMED("wait", "pthread_join", pthread_join(thread, NULL));
}

static void polling(void) {
    struct timeval tv = {0, 100000};
    struct timespec ts = {0, 100000000};
    struct pollfd p = {.fd = fds[0], .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    char c;
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
    TIMED("wait", "poll", poll(&p, 1, 100));
    TIMED("wait", "ppoll", ppoll(&p, 1, &ts, NULL));
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    TIMED("wait", "select", select(fds[0] + 1, &set, NULL, NULL, &tv));
    FD_SET(fds[0], &set);
    TIMED("wait", "pselect", pselect(fds[0] + 1, &set, NULL, NULL, &ts, NULL));
    TIMED("wait", "epoll_wait", epoll_wait(epoll, &event, 1, 100));
    TIMED("wait", "epoll_pwait", epoll_pwait(epoll, &event, 1, 100, NULL));
    HELPED(feed_pipe, "read", (void)!read(fds[0], &c, 1));
    HELPED(feed_socket, "recv", recv(sockets[0], &c, 1, 0));
    close(epoll);
}

static pid_t sleeping_child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        raw_sleep(WAIT_S);
        _exit(0);
    }
    return pid;
}

static void children(void) {
    siginfo_t info;
    pid_t pid = sleeping_child();
    TIMED("wait", "waitpid", waitpid(pid, NULL, 0));
    sleeping_child();
    TIMED("wait", "wait", wait(NULL));
    sleeping_child();
    TIMED("wait", "waitid", waitid(P_ALL, 0, &info, WEXITED));
    TIMED("wait", "system", (void)!system("exec 2>&1"));
}

static void on_alarm(int sig) {
    (void)sig;
}

static void signals(void) {
    sigset_t set, none;
    int sig;
    struct timespec t = {0, 100000000};
    signal(SIGALRM, on_alarm);
    ualarm(100000, 0);
    TIMED("wait", "pause", pause());
    sigemptyset(&none);
    ualarm(100000, 0);
    TIMED("wait", "sigsuspend", sigsuspend(&none));
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ualarm(100000, 0);
    TIMED("wait", "sigwait", sigwait(&set, &sig));
    TIMED("wait", "sigtimedwait", sigtimedwait(&set, NULL, &t));
}

/* Enough bytes that the calls take a while; what a disk does with them is not our business. */
static void files(void) {
    enum { SIZE = 1 << 20, COUNT = 300 };
    char *block = malloc(SIZE);
    memset(block, 1, SIZE);
    int fd = open("data", O_CREAT | O_RDWR | O_TRUNC, 0644);
    TIMED("io", "write", for (int i = 0; i < COUNT; i++)(void) !write(fd, block, SIZE));
    lseek(fd, 0, SEEK_SET);
    TIMED("io", "read", for (int i = 0; i < COUNT; i++)(void) !read(fd, block, SIZE));
    TIMED("io", "pread", for (int i = 0; i < COUNT; i++)(void) !pread(fd, block, SIZE, 0));
    TIMED("io", "pwrite", for (int i = 0; i < COUNT; i++)(void) !pwrite(fd, block, SIZE, 0));
    TIMED("io", "fsync", fsync(fd));
    close(fd);
    TIMED("io", "unlink", unlink("data"));
    free(block);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"locks", locks},       {"sleeping", sleeping}, {"polling", polling},
        {"children", children}, {"signals", signals},   {"files", files},
    };
    truth = fopen("truth", "we");
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pipe(fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            fclose(truth);
            puts(argv[1]);
            return 0;
        }
    return 2;
}
