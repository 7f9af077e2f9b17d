/* SPDX-License-Identifier: MIT
 *
 * A program that does something with signals, timers or stacks and prints what it sees: signals
 * MODE. The same must come out with and without sampling.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile double sink;
static volatile sig_atomic_t seen;

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void spin(double seconds) {
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 1000; i++)
            sink += sqrt(i);
}

static void note(int number) {
    seen = number;
}

static void block_all(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Which signals are not at their default. */
static void asks(void) {
    spin(0.1);
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction action = {.sa_flags = 0};
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("%d is in use\n", i);
    }
}

static void defaults(void) {
    for (int i = 1; i <= SIGRTMAX; i++)
        if (signal(i, SIG_DFL) != SIG_DFL && errno != EINVAL)
            printf("%d was in use\n", i);
    spin(0.2);
}

static void takes(void) {
    struct sigaction action = {.sa_handler = note}, old;
    spin(0.1);
    for (int i = SIGRTMAX; i > SIGRTMAX - 3; i--) {
        sigaction(i, &action, &old);
        raise(i);
        printf("%d: %s, before: %s\n", i, seen == i ? "came" : "did not come",
               old.sa_handler == SIG_DFL ? "default" : "in use");
    }
    spin(0.2);
    printf("last: %d\n", (int)seen);
}

/* As runtimes that bring their own system calls do. */
static void replaces(void) {
    struct {
        void (*handler)(int);
        unsigned long flags, restorer, mask;
    } ignore = {.handler = SIG_IGN};
    spin(0.1);
    printf("rt_sigaction: %ld\n", syscall(SYS_rt_sigaction, SIGRTMAX, &ignore, NULL, 8));
    spin(0.1);
    raise(SIGRTMAX);
}

static void dies(void) {
    spin(0.1);
    raise(SIGRTMAX);
}

/* Signals of ours would wait here to be waited for. */
static void waits(void) {
    sigset_t all;
    struct timespec soon = {0, 20000000};
    siginfo_t info;
    block_all();
    sigfillset(&all);
    for (int i = 0; i < 5; i++) {
        spin(0.05);
        int got = sigtimedwait(&all, &info, &soon);
        printf("sigtimedwait: %d %s\n", got, got < 0 ? strerror(errno) : "");
    }
    kill(getpid(), SIGUSR1);
    int number = 0;
    sigwait(&all, &number);
    printf("sigwait: %d\n", number);
    spin(0.05);
    sigpending(&all);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (sigismember(&all, i) == 1)
            printf("%d is pending\n", i);
}

static void reads(void) {
    sigset_t all;
    struct signalfd_siginfo info;
    block_all();
    sigfillset(&all);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    spin(0.1);
    printf("signalfd: %d\n", (int)read(fd, &info, sizeof info));
}

/* Calls that unblock signals while they wait return for the program's own signals only. */
static void suspends(void) {
    sigset_t none;
    struct itimerval soon = {{0, 0}, {0, 30000}};
    struct timespec short_time = {0, 20000000};
    signal(SIGALRM, note);
    block_all();
    sigemptyset(&none);
    for (int i = 0; i < 5; i++) {
        spin(0.03);
        int ready = ppoll(NULL, 0, &short_time, &none);
        printf("ppoll: %d\n", ready);
        spin(0.03);
        seen = 0;
        setitimer(ITIMER_REAL, &soon, NULL);
        sigsuspend(&none);
        printf("sigsuspend: %d\n", (int)seen);
    }
}

/* Computing and short waits in turn: none is interrupted. */
static void sleeps(void) {
    int interrupted = 0;
    struct timespec short_time = {0, 500000};
    for (double end = cpu_s() + 0.5; cpu_s() < end;) {
        spin(0.0007);
        interrupted += nanosleep(&short_time, NULL) != 0;
        spin(0.0007);
        interrupted += poll(NULL, 0, 1) != 0;
    }
    printf("interrupted: %d\n", interrupted);
}

static ucontext_t outside, inside;
static char *low;

/* Uses the stack up to its last two kilobytes, less than a signal needs. */
static void near_the_end(void) {
    volatile char here[64];
    here[0] = 0;
    if ((char *)here - low > 1800)
        near_the_end();
    else
        spin(0.2);
    here[1] = 1;
}

static void small(void) {
    spin(0.01); /* what binds lazily is bound */
    long page = sysconf(_SC_PAGESIZE);
    char *memory = aligned_alloc((size_t)page, 8 * (size_t)page);
    low = memory;
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = 8 * (size_t)page;
    inside.uc_link = &outside;
    memset(memory, 0x5a, 256);
    makecontext(&inside, near_the_end, 0);
    swapcontext(&outside, &inside);
    int intact = 1;
    for (int i = 0; i < 256; i++)
        intact &= memory[i] == 0x5a;
    printf("the end of the stack is %s\n", intact ? "intact" : "written over");
    free(memory);
}

/* An alternate stack of the program's own stays; signals find it. */
static void on_own_stack(int number) {
    char here;
    seen = &here >= low && &here < low + 16384 ? number : -1;
}

static void alternate(void) {
    stack_t stack = {.ss_size = 16384}, now;
    low = stack.ss_sp = malloc(stack.ss_size);
    struct sigaction action = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    spin(0.2);
    raise(SIGUSR1);
    sigaltstack(NULL, &now);
    printf("%s, %s\n", seen == SIGUSR1 ? "on it" : "elsewhere",
           now.ss_sp == stack.ss_sp ? "kept" : "lost");
}

static void idles(void) {
    puts("idles");
    fflush(stdout);
    sleep(2);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {{"asks", asks},           {"defaults", defaults}, {"takes", takes},
             {"dies", dies},           {"waits", waits},       {"reads", reads},
             {"suspends", suspends},   {"sleeps", sleeps},     {"small", small},
             {"alternate", alternate}, {"idles", idles},       {"replaces", replaces}};

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            puts(modes[i].name);
            modes[i].run();
            return 0;
        }
    return 2;
}
