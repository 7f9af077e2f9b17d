/* SPDX-License-Identifier: MIT
 *
 * The profiler arrives when the program is already running, as in a notebook: threads exist and
 * have called hooked functions before. `late_start LIBBATTPROF`; without argument it stays bare.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "work.h"

#define THREADS 4
static pthread_barrier_t loaded;

static void middle(void *arg) {
    pthread_barrier_wait(&loaded); /* loading happens while these calls are open */
    pthread_barrier_wait(&loaded);
    (void)arg;
}

static void *run(void *arg) {
    work_sub(1, 1); /* resolves the slot before the profiler is there */
    work_nest(3, middle, NULL);
    for (int i = 0; i < 1000; i++)
        work_add(i, 1);
    return arg;
}

static void *young(void *arg) {
    for (int i = 0; i < 50; i++)
        work_add(i, 1);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t t[THREADS];
    pthread_barrier_init(&loaded, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, run, NULL);
    work_sub(2, 1);
    pthread_barrier_wait(&loaded);
    if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
        fprintf(stderr, "%s\n", dlerror());
    pthread_barrier_wait(&loaded);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 100; i++)
        work_add(i, 1);
    pthread_create(&t[0], NULL, young, NULL);
    pthread_join(t[0], NULL);
    puts("late");
    return 0;
}
