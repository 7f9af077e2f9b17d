/* SPDX-License-Identifier: MIT
 *
 * Signals that arrive anywhere, also inside a stub, and whose handlers call hooked functions; and
 * signals that interrupt blocking calls, which must fail with EINTR as before.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static volatile long handled;

static void handler(int sig) {
    int saved = errno;
    (void)sig;
    handled++;
    work_empty();
    work_tail(1, 2);
    errno = saved;
}

static void install(int sig, int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(sig, &action, NULL);
}

static void timer(int which, long us) {
    struct itimerval t = {{0, us}, {0, us}};
    setitimer(which, &t, NULL);
}

#define ENOUGH 50
#define LONGEST 30 /* seconds, where others have the CPU */

/* And until enough signals came: those of ITIMER_PROF go by CPU time. */
static void calls_for(double seconds) {
    double begin = now_s();
    long sum = 0;
    while (now_s() < begin + seconds || (handled <= ENOUGH && now_s() < begin + LONGEST))
        for (int i = 0; i < 200; i++)
            sum += work_add(i, 1) + work_even(3);
    printf("enough %d\n", sum > 0);
}

static void stop(int which) {
    timer(which, 0);
    printf("handled %d\n", handled > ENOUGH);
}

static void real(void) {
    install(SIGALRM, SA_RESTART);
    timer(ITIMER_REAL, 100);
    calls_for(1.5);
    stop(ITIMER_REAL);
}

static void prof(void) {
    install(SIGPROF, SA_RESTART);
    timer(ITIMER_PROF, 1000);
    calls_for(1.5);
    stop(ITIMER_PROF);
}

static void alternate(void) {
    static char stack[65536];
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&s, NULL);
    install(SIGALRM, SA_RESTART | SA_ONSTACK);
    timer(ITIMER_REAL, 100);
    calls_for(1.0);
    stop(ITIMER_REAL);
}

/* Handlers interrupt handlers. */
static void nested(void) {
    install(SIGALRM, SA_RESTART | SA_NODEFER);
    install(SIGUSR1, SA_RESTART | SA_NODEFER);
    timer(ITIMER_REAL, 100);
    double end = now_s() + 1.0;
    while (now_s() < end) {
        raise(SIGUSR1);
        work_add(1, 1);
    }
    stop(ITIMER_REAL);
}

static volatile int stop_threads;

static void *busy(void *arg) {
    while (!stop_threads)
        work_add(1, work_add(2, 3));
    return arg;
}

static void in_threads(void) {
    pthread_t threads[4];
    install(SIGUSR1, SA_RESTART);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, busy, NULL);
    for (int i = 0; i < 20000; i++) {
        pthread_kill(threads[i % 4], SIGUSR1);
        if (i % 50 == 0)
            usleep(100);
    }
    stop_threads = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("handled %d\n", handled > ENOUGH);
}

/* Blocking calls end with EINTR at the first signal unless SA_RESTART is set. */
static void eintr(void) {
    int fds[2];
    char c;
    struct timespec t = {5, 0}, left = {0, 0};
    struct pollfd p = {.events = POLLIN};
    if (pipe(fds))
        return;
    p.fd = fds[0];
    install(SIGALRM, 0);
    timer(ITIMER_REAL, 20000);
    int got = nanosleep(&t, &left);
    printf("nanosleep %d %s %d\n", got, strerror(errno), left.tv_sec == 4);
    got = (int)read(fds[0], &c, 1);
    printf("read %d %s\n", got, strerror(errno));
    got = poll(&p, 1, 5000);
    printf("poll %d %s\n", got, strerror(errno));
    got = (int)work_block(fds[0]);
    printf("work_block %d %s\n", got, strerror(errno));
    got = pause();
    printf("pause %d %s\n", got, strerror(errno));
    printf("sleep %d\n", sleep(5) >= 4);
    got = usleep(500000);
    printf("usleep %d %s\n", got, strerror(errno));
    timer(ITIMER_REAL, 0);

    sigset_t set, pending;
    int sig = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    sigpending(&pending);
    printf("pending %d\n", sigismember(&pending, SIGUSR2));
    printf("sigwait %d", sigwait(&set, &sig));
    printf(" %d\n", sig == SIGUSR2);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"real", real},
        {"prof", prof},
        {"alternate", alternate},
        {"nested", nested},
        {"in_threads", in_threads},
        {"eintr", eintr},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
