/* SPDX-License-Identifier: MIT
 *
 * cuda_small COUNT PIECE: brings COUNT pieces of 4096 bytes to the device, PIECE (at most 512) of
 * them in a copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (512u * 4096u)

int cudaMalloc(void **memory, size_t size);
int cudaMemcpy(void *target, const void *source, size_t size, int kind);
int cudaDeviceSynchronize(void);

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    size_t count = (size_t)atoi(argv[1]), piece = 4096u * (size_t)atoi(argv[2]);
    char *host = malloc(BUFFER);
    void *device;
    if (!host || cudaMalloc(&device, BUFFER))
        return 1;
    memset(host, 1, BUFFER);
    for (size_t at = 0; at < 4096 * count; at += piece)
        cudaMemcpy((char *)device + at % BUFFER, host + at % BUFFER, piece, 1);
    cudaDeviceSynchronize();
    free(host);
    puts("ok");
    return 0;
}
