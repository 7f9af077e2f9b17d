/* SPDX-License-Identifier: MIT
 *
 * longjmp, siglongjmp and ucontext; one mode per case.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "work.h"

static jmp_buf back;
static sigjmp_buf signal_back;

static void jump_back(void *arg) {
    longjmp(back, *(int *)arg);
}

static void plain(void) {
    volatile long sum = 0;
    for (volatile int i = 1; i <= 1000; i++) {
        int got = setjmp(back);
        if (got == 0)
            work_longjmp(back, i);
        sum += got;
        work_add(1, 1);
    }
    printf("plain %ld\n", sum);
}

static void nested(void) {
    volatile long sum = 0;
    for (volatile int i = 1; i <= 1000; i++) {
        int value = i;
        int got = setjmp(back);
        if (got == 0)
            work_nest(1 + i % 30, jump_back, &value);
        sum += got;
    }
    work_empty();
    printf("nested %ld\n", sum);
}

/* A million abandoned calls: their entries must be used again. */
static void deep(void) {
    volatile long sum = 0;
    for (volatile int i = 1; i <= 1000; i++) {
        int value = 1;
        int got = setjmp(back);
        if (got == 0)
            work_nest(1000, jump_back, &value);
        sum += got;
    }
    work_empty();
    printf("deep %ld\n", sum);
}

static void set_and_jump(void *arg) {
    jmp_buf here;
    volatile int rounds = 0;
    if (setjmp(here) < 5) {
        rounds++;
        work_longjmp(here, rounds);
    }
    *(int *)arg += rounds;
}

/* Jumps that stay below an open hooked call leave it open. */
static void partial(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        work_nest(3, set_and_jump, &sum);
    printf("partial %d\n", sum);
}

static void on_signal(int sig) {
    siglongjmp(signal_back, sig);
}

static void raise_it(void *arg) {
    raise(*(int *)arg);
}

static void from_signal(void) {
    volatile int count = 0;
    signal(SIGUSR1, on_signal);
    for (volatile int i = 0; i < 500; i++) {
        int sig = SIGUSR1;
        if (sigsetjmp(signal_back, 1) == 0)
            work_nest(1 + i % 5, raise_it, &sig);
        else
            count++;
    }
    work_empty();
    printf("signal %d\n", count);
}

static void on_segv(int sig) {
    siglongjmp(signal_back, sig);
}

static void crash(void *arg) {
    *(volatile int *)arg = 1;
}

/* As some runtimes do: a fault inside a hooked call, on the alternate stack, and away. */
static void from_segv(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_segv, .sa_flags = SA_ONSTACK};
    volatile int count = 0;
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 200; i++)
        if (sigsetjmp(signal_back, 1) == 0)
            work_call(crash, NULL);
        else
            count++;
    work_empty();
    printf("segv %d\n", count);
}

#define CONTEXTS 8
#define ROUNDS 500
static ucontext_t scheduler, contexts[CONTEXTS];
static int finished, current;

static void yield(void *arg) {
    (void)arg;
    swapcontext(&contexts[current], &scheduler);
}

static void coroutine(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        work_nest(1 + me % 4, yield, NULL); /* suspended in the middle */
        work_add(me, i);
    }
    finished++;
}

static void make(int i, ucontext_t *next) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_size = 256 * 1024;
    contexts[i].uc_stack.ss_sp = malloc(256 * 1024);
    contexts[i].uc_link = next;
    makecontext(&contexts[i], (void (*)(void))(void *)coroutine, 1, i);
}

static void round_robin(void) {
    for (int i = 0; i < CONTEXTS; i++)
        make(i, &scheduler);
    for (int round = 0; round <= ROUNDS; round++)
        for (current = 0; current < CONTEXTS; current++)
            if (round < ROUNDS || finished < CONTEXTS)
                swapcontext(&scheduler, &contexts[current]);
    printf("finished %d\n", finished);
}

static void resume_all(void *arg) {
    (void)arg;
    for (current = 0; current < CONTEXTS; current++)
        swapcontext(&scheduler, &contexts[current]);
}

/* Resumed from different depths of hooked calls of the scheduler itself. */
static void from_depths(void) {
    for (int i = 0; i < CONTEXTS; i++)
        make(i, &scheduler);
    for (int round = 0; round <= ROUNDS; round++)
        work_nest(1 + round % 5, resume_all, NULL);
    printf("finished %d\n", finished);
}

/* Suspended for ever and freed: calls that never return. */
static void abandoned(void) {
    for (int i = 0; i < CONTEXTS; i++)
        make(i, &scheduler);
    for (current = 0; current < CONTEXTS; current++)
        swapcontext(&scheduler, &contexts[current]);
    for (int i = 0; i < CONTEXTS; i++)
        free(contexts[i].uc_stack.ss_sp);
    for (int i = 0; i < 100; i++)
        work_add(i, i);
    printf("abandoned %d\n", finished);
}

static void *resume_elsewhere(void *arg) {
    work_nest(2, resume_all, NULL);
    return arg;
}

/* M:N schedulers: suspended inside a hooked call in one thread, resumed in another. */
static void migrate(void) {
    for (int i = 0; i < CONTEXTS; i++)
        make(i, &scheduler);
    for (int round = 0; round <= ROUNDS; round++) {
        pthread_t t;
        if (round % 50 == 0) {
            pthread_create(&t, NULL, resume_elsewhere, NULL);
            pthread_join(t, NULL);
        } else {
            work_nest(1, resume_all, NULL);
        }
    }
    for (int i = 0; i < 100; i++)
        work_add(i, i);
    printf("finished %d\n", finished);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"plain", plain},
        {"nested", nested},
        {"deep", deep},
        {"partial", partial},
        {"from_signal", from_signal},
        {"from_segv", from_segv},
        {"round_robin", round_robin},
        {"from_depths", from_depths},
        {"abandoned", abandoned},
        {"migrate", migrate},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
