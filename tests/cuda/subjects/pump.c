/* SPDX-License-Identifier: MIT
 *
 * cuda_pump THREADS pageable|pinned: after one copy from pinned memory, each of the threads brings
 * 1 MiB to the device 60 times and waits for it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1u << 20)
#define ROUNDS 60
#define MOST 16
#define TO_DEVICE 1

int cudaMalloc(void **memory, size_t size);
int cudaMallocHost(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);

struct buffer {
    void *host;
    void *device;
};

static void *pump(void *data) {
    const struct buffer *buffer = data;
    for (int i = 0; i < ROUNDS; i++)
        cudaMemcpy(buffer->device, buffer->host, SIZE, TO_DEVICE);
    return NULL;
}

static int buffer_init(struct buffer *buffer, int pinned) {
    if (cudaMalloc(&buffer->device, SIZE))
        return -1;
    if (pinned && cudaMallocHost(&buffer->host, SIZE))
        return -1;
    if (!pinned && !(buffer->host = malloc(SIZE)))
        return -1;
    memset(buffer->host, 1, SIZE);
    return 0;
}

int main(int argc, char **argv) {
    struct buffer first, buffers[MOST];
    pthread_t threads[MOST];
    int count = argc == 3 ? atoi(argv[1]) : 0;
    if (count < 1 || count > MOST || buffer_init(&first, 1))
        return 2;
    cudaMemcpy(first.device, first.host, SIZE, TO_DEVICE);
    for (int i = 0; i < count; i++)
        if (buffer_init(&buffers[i], strcmp(argv[2], "pinned") == 0))
            return 1;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, pump, &buffers[i]);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
