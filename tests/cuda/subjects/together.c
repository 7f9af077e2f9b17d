/* SPDX-License-Identifier: MIT
 *
 * cuda_together THREADS: they make their first CUDA calls at the same time. Each allocates, and
 * brings 4 KiB to the device 20 times.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 16
#define ROUNDS 20
#define SIZE 4096
#define TO_DEVICE 1

int cudaMalloc(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);

static pthread_barrier_t barrier;

static void *work(void *failed) {
    static const char host[SIZE];
    void *device;
    pthread_barrier_wait(&barrier);
    if (cudaMalloc(&device, SIZE))
        return failed;
    for (int i = 0; i < ROUNDS; i++)
        if (cudaMemcpy(device, host, SIZE, TO_DEVICE))
            return failed;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[MOST];
    void *failed = NULL, *result;
    int count = argc == 2 ? atoi(argv[1]) : 0;
    if (count < 1 || count > MOST)
        return 2;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, &barrier);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], &result);
        failed = result ? result : failed;
    }
    puts(failed ? "failed" : "ok");
    return failed != NULL;
}
