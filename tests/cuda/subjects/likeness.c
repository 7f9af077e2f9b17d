/* SPDX-License-Identifier: MIT
 *
 * Copies that are hard to know again, on a runtime that takes no time: by a signal handler between
 * any two instructions of others, from thousands of places on the stack, of all sizes, with objects
 * unloaded in between, with failures among them. Prints copies and bytes to the device and back.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "tests/cuda/quick/cudart.h"

#define ROUNDS 60000
#define PLACES 3000
#define UNLOADED 50

struct sum {
    unsigned long count, bytes;
};

static char memory[64];
static struct sum up, down; /* those of the handler are `down`, all others `up` */

/* Nothing is transferred by a copy of no bytes. */
static void add(struct sum *sum, size_t size, int error) {
    sum->count += error == 0 && size > 0;
    sum->bytes += error == 0 ? size : 0;
}

static void handle(int number) {
    (void)number;
    for (size_t size = 30; size < 34; size++)
        add(&down, size, cudaMemcpy(memory, memory, size, TO_HOST));
}

static __attribute__((noinline)) void upload(size_t size) {
    add(&up, size, cudaMemcpyAsync(memory, memory, size, TO_DEVICE, NULL));
}

static __attribute__((noinline)) void upload_from(size_t place, size_t size) {
    volatile char *room = alloca(16 * place + 16);
    room[0] = 0;
    upload(size);
}

static void all_sizes(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 65535, 65536, 1 << 29, (1 << 29) - 1};
    for (size_t i = 0; i < ROUNDS; i++) {
        upload(sizes[i % 8]);
        upload(sizes[i / 8 % 8]);
        add(&up, 13, cudaMemcpy(memory, memory, 13, TO_DEVICE)); /* fails */
        add(&up, 12, cudaMemcpy(memory, memory, 12, TO_DEVICE));
    }
}

static void all_places(void) {
    for (size_t i = 0; i < 3 * PLACES; i++)
        upload_from(i % PLACES, 100);
}

static void between_unloading(void) {
    for (int i = 0; i < UNLOADED; i++) {
        void *object = dlopen("librt.so.1", RTLD_NOW);
        upload(1000);
        if (object)
            dlclose(object);
        upload(1000);
    }
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    upload(5); /* with the first call the collector starts: in between it would not see others */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    all_sizes();
    all_places();
    between_unloading();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%lu %lu %lu %lu\n", up.count, up.bytes, down.count, down.bytes);
    return 0;
}
