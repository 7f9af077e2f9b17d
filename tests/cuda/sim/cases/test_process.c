/* SPDX-License-Identifier: MIT
 *
 * What the simulated device does around the calls: the driver is loaded at the first one that needs
 * it and brings in the tool that the environment names, driver calls work as found by
 * cuGetProcAddress, a forked child is refused, and a million calls need no memory.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/sim/cuda.h"

#define CALLS 200000

static bool injected(const char *how) {
    const char *value = getenv("INJECTED");
    return value ? how && !strcmp(value, how) : !how;
}

static void test_start(void) {
    int count;
    MUST(cudaGetDeviceCount(&count));
    CHECK(!dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "the driver is there too early");
    CHECK(injected(NULL), "the tool is there too early");
    MUST(cudaDeviceSynchronize());
    CHECK(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "the driver is not loaded");
    CHECK(injected("once"), "the tool was not started once");
}

static void test_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*find)(const char *, void **, int, uint64_t, int *);
    int (*allocate)(void **, size_t), (*up)(void *, const void *, size_t);
    int (*down)(void *, const void *, size_t);
    void *memory;
    char in[] = "through the driver", out[sizeof in] = "";
    *(void **)&find = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
    CHECK(find, "no cuGetProcAddress_v2");
    if (!find)
        return;
    MUST(find("cuMemAlloc", (void **)&allocate, 12000, 0, NULL));
    MUST(find("cuMemcpyHtoD", (void **)&up, 12000, 0, NULL));
    MUST(find("cuMemcpyDtoH", (void **)&down, 12000, 0, NULL));
    CHECK(find("cuNothing", &memory, 12000, 0, NULL) == 500 && !memory, "found nothing");
    MUST(allocate(&memory, sizeof in));
    MUST(up(memory, in, sizeof in));
    MUST(down(out, memory, sizeof out));
    CHECK(!strcmp(in, out), "got %s", out);
}

/* With work in flight. */
static void test_fork(void *device, void *host, stream_t stream) {
    int status;
    event_t event;
    MUST(cudaEventCreate(&event));
    MUST(cudaMemcpyAsync(device, host, 1 << 20, H2D, stream));
    MUST(cudaEventRecord(event, stream));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        void *memory;
        _exit(cudaMalloc(&memory, 16) != cudaErrorInitializationError ||
              cudaEventSynchronize(event) != cudaErrorInitializationError ||
              cudaStreamSynchronize(stream) != cudaErrorInitializationError);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0, "the child got a device: %x", status);
    MUST(cudaEventDestroy(event));
    MUST(cudaStreamSynchronize(stream));
}

static long resident_kib(void) {
    long pages = 0, skipped;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &skipped, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4;
}

static void test_many(void *device, void *host, stream_t stream) {
    long before = 0;
    double began = 0;
    for (int i = 0; i < CALLS; i++) {
        if (i == CALLS / 10) {
            before = resident_kib();
            began = now_ms();
        }
        MUST(cudaMemcpyAsync(device, host, 64, H2D, stream));
    }
    double ns = (now_ms() - began) * 1e6 / (CALLS * 0.9);
    MUST(cudaStreamSynchronize(stream));
    long grown = resident_kib() - before;
    printf("%.0f ns a call, %ld KiB grown\n", ns, grown);
    CHECK(grown < 2048, "%ld KiB more after %d calls", grown, CALLS);
}

int main(void) {
    void *device, *host;
    stream_t stream;
    test_start();
    test_driver();
    MUST(cudaMalloc(&device, 1 << 20));
    MUST(cudaMallocHost(&host, 1 << 20));
    MUST(cudaStreamCreate(&stream));
    test_fork(device, host, stream);
    test_many(device, host, stream);
    printf("%d failures\n", failures);
    return failures != 0;
}
