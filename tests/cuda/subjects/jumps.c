/* SPDX-License-Identifier: MIT
 *
 * Copies, on a runtime that takes no time, that a signal handler leaves by siglongjmp at any
 * instruction: by paths that were there before, by new ones, and large ones. Then some that nobody
 * interrupts. Prints how many returned, and how many may have.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "tests/cuda/quick/cudart.h"

#define JUMPS 4000
#define AFTER 1000
#define PLACES 500
#define LARGE (1ul << 30)

static char memory[64];
static sigjmp_buf before;
static volatile sig_atomic_t armed, pending;
static volatile unsigned long returned, perhaps, jumps;

static void jump(int number) {
    (void)number;
    if (!armed)
        return;
    armed = 0;
    jumps++;
    siglongjmp(before, 1);
}

static __attribute__((noinline)) void upload(size_t size) {
    pending = 1;
    cudaMemcpyAsync(memory, memory, size, TO_DEVICE, NULL);
    returned++;
    pending = 0;
}

static __attribute__((noinline)) void upload_from(size_t place) {
    volatile char *room = alloca(16 * place + 16);
    room[0] = 0;
    upload(100);
}

static void copy_until_interrupted(void) {
    static volatile unsigned long i;
    if (sigsetjmp(before, 1)) {
        perhaps += pending != 0;
        pending = 0;
        return;
    }
    for (armed = 1;; i++) {
        upload(40);
        upload(LARGE);
        upload_from(i % PLACES);
    }
}

static __attribute__((noinline)) void after(void) {
    upload(7);
    upload(LARGE);
    __asm__ volatile("");
}

int main(void) {
    struct sigaction action = {.sa_handler = jump};
    struct itimerval often = {{0, 100}, {0, 100}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    upload(5);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (jumps < JUMPS)
        copy_until_interrupted();
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < AFTER; i++)
        after();
    printf("%lu %lu\n", returned, perhaps);
    return 0;
}
