/* SPDX-License-Identifier: MIT
 *
 * Changes its ids, to what they are, after CUDA has started: glibc asks every thread of the process
 * to do the same and waits for it.
 */
#include <grp.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int cudaMalloc(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);

int main(void) {
    static char host[4096];
    void *device;
    int errors = cudaMalloc(&device, sizeof host);
    for (int i = 0; i < 20; i++) {
        errors += cudaMemcpy(device, host, sizeof host, 1);
        errors += setgid(getgid()) | setuid(getuid()) | setresuid(-1, getuid(), -1);
        usleep(5000);
    }
    puts(errors ? "failed" : "ok");
    return errors != 0;
}
