/* SPDX-License-Identifier: MIT
 *
 * Deep and mutual recursion of hooked functions, on a stack that is large enough: far beyond the
 * entries that a thread begins with. `deep LEVELS`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static long levels;

static void *run(void *arg) {
    printf("depth %ld\n", work_depth(levels));
    printf("even %d\n", work_even(levels));
    printf("again %ld\n", work_depth(levels / 2));
    work_busy(0.01);
    return arg;
}

int main(int argc, char **argv) {
    pthread_attr_t attr;
    pthread_t t;
    levels = argc > 1 ? atol(argv[1]) : 1000;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 512UL << 20);
    if (pthread_create(&t, &attr, run, NULL))
        return 1;
    pthread_join(t, NULL);
    return 0;
}
