/* SPDX-License-Identifier: MIT
 *
 * Makes calls and says how long they took. It stays alive and obeys lines on stdin,
 *
 *     SHAPE THREADS CALLS        SHAPE one, many, nested or probe; THREADS 1 or 2; CALLS of each
 * thread
 *
 * answering "NS OVERLAP": nanoseconds per call, mean of the threads, and the percentage of the time
 * in which both ran. So tests/bench/measure.py can go round all variants in slices of less than a
 * millisecond, and what disturbs the machine disturbs all of them.
 *
 * Between the two readings of the clock nothing but the subject is called through the PLT.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "tests/bench/functions.h"

#define CALIBRATION_NS 20000000

struct slice {
    unsigned long long start;
    unsigned long long end;
};

static struct {
    char shape; /* its first letter */
    long calls;
    sem_t begin;
    sem_t done;
    int ready; /* threads that are about to begin */
    struct slice second;
    volatile long sink;
} state;

static long call_one(long calls, long x) {
    for (long i = 0; i < calls; i++)
        x = dsl_00(x);
    return x;
}

#define CALL(name) x = name(x);
static long call_many(long calls, long x) {
    for (long i = 0; i < calls; i += 64) {
        BENCH_FUNCTIONS(CALL)
    }
    return x;
}

static long call_nested(long calls, long x) {
    for (long i = 0; i < calls; i += 3)
        x = dsl_outer(x);
    return x;
}

/* No calls, but instructions that keep the core as busy as it can be: takes longer when somebody
 * (another guest of the host, too) uses the other hardware thread of the core. */
static long spin(long calls, long x) {
    for (long i = 0; i < calls; i++)
        __asm__ volatile(".rept 8; add $1, %%eax; add $1, %%ecx; add $1, %%edx; add $1, %%esi;"
                         "add $1, %%edi; add $1, %%r8d; .endr" ::
                             : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "cc");
    return x;
}

static struct slice run(void) {
    struct slice slice;
    long x = state.sink;
    slice.start = __rdtsc();
    if (state.shape == 'o')
        x = call_one(state.calls, x);
    else if (state.shape == 'm')
        x = call_many(state.calls, x);
    else if (state.shape == 'p')
        x = spin(state.calls, x);
    else
        x = call_nested(state.calls, x);
    slice.end = __rdtsc();
    state.sink = x;
    return slice;
}

/* Both threads leave here at the same moment. */
static void meet(void) {
    __atomic_add_fetch(&state.ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&state.ready, __ATOMIC_ACQUIRE) < 2)
        __builtin_ia32_pause();
}

/* On a busy machine the two would else be given the same processor and run one after the other. */
static void pin(int first) {
    cpu_set_t allowed, chosen;
    int from = first ? 0 : CPU_SETSIZE - 1, step = first ? 1 : -1;
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    while (!CPU_ISSET(from, &allowed))
        from += step;
    CPU_ZERO(&chosen);
    CPU_SET(from, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
}

static void *second_thread(void *unused) {
    pin(0);
    sem_post(&state.done);
    for (;;) {
        sem_wait(&state.begin);
        meet();
        state.second = run();
        sem_post(&state.done);
    }
    return unused;
}

static struct slice run_both(struct slice *second) {
    state.ready = 0;
    sem_post(&state.begin);
    meet();
    struct slice first = run();
    sem_wait(&state.done);
    *second = state.second;
    return first;
}

static double ticks_per_ns(void) {
    struct timespec a, b, wait = {0, CALIBRATION_NS};
    unsigned long long start = __rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &a);
    nanosleep(&wait, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    unsigned long long ticks = __rdtsc() - start;
    return (double)ticks / ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec));
}

static double length(struct slice slice) {
    return (double)(slice.end - slice.start);
}

static double overlap(struct slice a, struct slice b) {
    unsigned long long start = a.start > b.start ? a.start : b.start;
    unsigned long long end = a.end < b.end ? a.end : b.end;
    double longest = length(a) > length(b) ? length(a) : length(b);
    return end > start ? 100 * (double)(end - start) / longest : 0;
}

int main(void) {
    char shape[16];
    int threads;
    pthread_t second;
    double rate = ticks_per_ns();
    sem_init(&state.begin, 0, 0);
    sem_init(&state.done, 0, 0);
    if (pthread_create(&second, NULL, second_thread, NULL))
        return 1;
    sem_wait(&state.done); /* it has chosen: our own choice is inherited by later threads */
    pin(1);
    while (scanf("%15s %d %ld", shape, &threads, &state.calls) == 3) {
        struct slice a, b;
        state.shape = shape[0];
        if (threads == 2)
            a = run_both(&b);
        else
            a = b = run();
        printf("%.3f %.0f\n", (length(a) + length(b)) / 2 / rate / (double)state.calls,
               overlap(a, b));
        fflush(stdout);
    }
    return 0;
}
