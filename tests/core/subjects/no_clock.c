/* SPDX-License-Identifier: MIT
 *
 * Forbids itself to read the time stamp counter, computes for some milliseconds, reads it, and
 * leaves the fault by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <x86intrin.h>

static sigjmp_buf start;

/* Long enough for samples to be due. clock() asks the kernel and needs no counter. */
static void compute(void) {
    for (clock_t end = clock() + CLOCKS_PER_SEC / 200; clock() < end;)
        ;
}

static void leave(int number) {
    siglongjmp(start, number);
}

int main(void) {
    volatile int faults = 0;
    struct sigaction action = {.sa_handler = leave};
    sigaction(SIGSEGV, &action, NULL);
    while (faults < 100) {
        if (sigsetjmp(start, 1) == 0) {
            prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
            compute();
            printf("%llu\n", __rdtsc());
        }
        prctl(PR_SET_TSC, PR_TSC_ENABLE);
        faults++;
    }
    printf("%d faults\n", faults);
    return 0;
}
