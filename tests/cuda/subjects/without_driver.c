/* SPDX-License-Identifier: MIT
 *
 * Linked with a real libcudart on a machine without a GPU. It prints what CUDA says; how long the
 * first call took, in microseconds, and how many threads there are goes to the file "first".
 */
#include <dirent.h>
#include <stdio.h>
#include <time.h>

int cudaGetDeviceCount(int *count);
int cudaMalloc(void **memory, unsigned long size);

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

int main(void) {
    int devices = 0;
    void *memory = NULL;
    double begin = now_us();
    int first = cudaGetDeviceCount(&devices);
    double took = now_us() - begin;
    printf("%d %d %d\n", first, devices, cudaMalloc(&memory, 64));
    FILE *file = fopen("first", "w");
    fprintf(file, "%.1f %d\n", took, threads());
    fclose(file);
    return 0;
}
