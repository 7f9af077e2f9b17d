/* SPDX-License-Identifier: MIT
 *
 * What sampling costs, within one process: the same work in slices with the sampling timer stopped
 * and running, in turn; the CPU time of each. Slices are short, so that what else the machine does
 * falls on both alike. sample SECONDS RATE, with libbattprof.so preloaded; also a library, for the
 * same in Python.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 20 /* frames below the work */
#define PAIRS 100000

static volatile double sink;

double sample_cpu(void);
int sample_switch(long rate);
void sample_report(const char *title, double *ratios, int count);

double sample_cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first timer of the process is the main thread's. 0: there is none. */
static int find_timer(void) {
    static int timer = -1;
    FILE *file = timer < 0 ? fopen("/proc/self/timers", "r") : NULL;
    if (file && fscanf(file, "ID: %d", &timer) != 1)
        timer = -1;
    if (file)
        fclose(file);
    return timer;
}

int sample_switch(long rate) {
    struct timespec period = {0, rate ? 1000000000 / rate : 0};
    struct itimerspec times = {period, period};
    int timer = find_timer();
    return timer >= 0 && syscall(SYS_timer_settime, timer, 0, &times, NULL) == 0;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sample_report(const char *title, double *ratios, int count) {
    qsort(ratios, (size_t)count, sizeof *ratios, compare);
    printf("%s: %.4f (median of %d pairs; quartiles %.4f to %.4f)\n", title, ratios[count / 2],
           count, ratios[count / 4], ratios[3 * count / 4]);
}

static __attribute__((noinline)) void work(int depth, long units) {
    if (depth > 0)
        work(depth - 1, units);
    else
        for (long i = 0; i < units; i++)
            sink += sqrt((double)i);
    __asm__ volatile("");
}

static double slice(long rate, long units) {
    sample_switch(rate);
    double start = sample_cpu();
    work(DEPTH, units);
    return sample_cpu() - start;
}

int main(int argc, char **argv) {
    static double ratios[PAIRS];
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    long rate = argc > 2 ? atol(argv[2]) : 200;
    char title[64];
    int count = 0;
    if (!sample_switch(0)) {
        puts("not sampled: preload libbattprof.so");
        return 1;
    }
    long units = (long)(1e6 * 0.05 / slice(0, 1000000));
    for (double end = sample_cpu() + seconds; sample_cpu() < end && count < PAIRS; count++) {
        int first = count % 2;
        double a = slice(first ? rate : 0, units), b = slice(first ? 0 : rate, units);
        ratios[count] = first ? a / b : b / a;
    }
    snprintf(title, sizeof title, "native, %ld/s", rate);
    sample_report(title, ratios, count);
    return 0;
}
