/* SPDX-License-Identifier: MIT
 *
 * The simulated T4 keeps its model: how long copies and kernels take, what overlaps and what waits,
 * and when a call returns; and it computes. A busy machine can make things longer, never shorter:
 * of what is measured the least of some runs counts.
 */
#include <pthread.h>
#include <string.h>

#include "tests/cuda/sim/cuda.h"

#define MIB ((size_t)1 << 20)
#define SIZE (24 * MIB)
#define UP_MS ((double)SIZE / 12300e3) /* 12300 MB/s, presets.def */
#define DOWN_MS ((double)SIZE / 13200e3)
#define KERNEL_MS 3.0
#define RUNS 5
#ifdef __SANITIZE_THREAD__
#    define SANITIZED 1
#else
#    define SANITIZED 0
#endif

static const size_t sizes[] = {sizeof(int *), sizeof(int), sizeof(int), 0};

/* Adds a number to n integers. */
static void add(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], n = *(int *)args[1], k = *(int *)args[2];
    (void)grid, (void)block;
    for (int i = 0; i < n; i++)
        values[i] += k;
}

/* 160 blocks of 256 threads have all of the device. */
static int launch_blocks(unsigned blocks, int *values, int n, int k, stream_t stream) {
    void *args[] = {&values, &n, &k};
    struct bp_sim_dim3 grid = {blocks, 1, 1}, block = {256, 1, 1};
    return cudaLaunchKernel((const void *)add, grid, block, args, 0, stream);
}

static int launch_add(int *values, int n, int k, stream_t stream) {
    return launch_blocks(64, values, n, k, stream);
}

static struct {
    char *pageable, *pinned, *pinned2, *device, *device2;
    stream_t stream[2], nonblocking;
    event_t begin, end, shared[2]; /* of each device, by several threads */
} t;

static void prepare(void) {
    MUST(bp_sim_register_kernel("add", (const void *)add, add, sizes, (uint64_t)(KERNEL_MS * 1e6),
                                0));
    t.pageable = calloc(1, SIZE);
    MUST(cudaMallocHost((void **)&t.pinned, SIZE));
    MUST(cudaMallocHost((void **)&t.pinned2, SIZE));
    MUST(cudaMalloc((void **)&t.device, SIZE));
    MUST(cudaMalloc((void **)&t.device2, SIZE));
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamCreate(&t.stream[i]));
    MUST(cudaStreamCreateWithFlags(&t.nonblocking, 1));
    MUST(cudaEventCreate(&t.begin));
    MUST(cudaEventCreate(&t.end));
    for (size_t i = 0; i < SIZE; i++)
        t.pageable[i] = t.pinned[i] = (char)(i * 7 % 251);
}

/* Milliseconds between the events of a piece of work. */
static double between(event_t from, event_t to) {
    float ms = 0;
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    return (double)ms;
}

static bool near(double got, double wanted) {
    return got > wanted * 0.98 - 0.02 && got < wanted * 1.02 + 0.15;
}

static void check_blocking(char *host, int direction, double wanted, const char *name) {
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double began = now_ms();
        MUST(direction == H2D ? cudaMemcpy(t.device, host, SIZE, H2D)
                              : cudaMemcpy(host, t.device, SIZE, D2H));
        double took = now_ms() - began;
        CHECK(took >= wanted, "%s: %.3f ms, not %.3f", name, took, wanted);
        least = took < least ? took : least;
    }
    CHECK_TIME(least < wanted * 3 + 50 || SANITIZED, "%s: %.3f ms, not %.3f", name, least, wanted);
    printf("%s: %.3f ms, the model says %.3f\n", name, least, wanted);
}

static void test_blocking(void) {
    check_blocking(t.pinned, H2D, UP_MS, "pinned up");
    check_blocking(t.pageable, H2D, (double)SIZE / 6000e3, "pageable up");
    check_blocking(t.pinned2, D2H, DOWN_MS, "pinned down");
    CHECK(!memcmp(t.pinned, t.pinned2, SIZE), "the copy is another");
    memset(t.pageable, 0, SIZE);
    check_blocking(t.pageable, D2H, (double)SIZE / 5000e3, "pageable down");
    CHECK(!memcmp(t.pinned, t.pageable, SIZE), "the copy is another");
}

/* Pinned and asynchronous: returns at once, done at the end. The best of some, since the machine
 * may be busy. */
static void test_async(void) {
    double call = 1e9, length = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double began = now_ms();
        MUST(cudaEventRecord(t.begin, t.stream[0]));
        MUST(cudaMemcpyAsync(t.device, t.pinned, SIZE, H2D, t.stream[0]));
        double took = now_ms() - began;
        call = took < call ? took : call;
        MUST(cudaEventRecord(t.end, t.stream[0]));
        CHECK(cudaStreamQuery(t.stream[0]) == cudaErrorNotReady || now_ms() - began > UP_MS,
              "the stream is idle");
        double ms = between(t.begin, t.end);
        length = ms < length ? ms : length;
        CHECK(now_ms() - began >= UP_MS, "the event came early");
    }
    CHECK_TIME(call < UP_MS / 4, "an asynchronous copy blocked for %.3f ms", call);
    CHECK_TIME(near(length, UP_MS), "up takes %.3f", length);
    double began = now_ms();
    MUST(cudaMemcpyAsync(t.pageable, t.device, SIZE, D2H, t.stream[0]));
    CHECK(now_ms() - began >= DOWN_MS, "a pageable download returned early");
}

/* Two pieces of work in two streams: a bit of each other's time where they share no engine. */
static double pair_once(int (*first)(stream_t), stream_t a, int (*second)(stream_t), stream_t b) {
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(t.begin, a));
    MUST(first(a));
    MUST(second(b));
    event_t other;
    MUST(cudaEventCreate(&other));
    MUST(cudaEventRecord(other, a));
    MUST(cudaEventRecord(t.end, b));
    double ms = between(t.begin, t.end), ms2 = between(t.begin, other);
    MUST(cudaEventDestroy(other));
    return ms > ms2 ? ms : ms2;
}

static double pair_ms(int (*first)(stream_t), stream_t a, int (*second)(stream_t), stream_t b) {
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double ms = pair_once(first, a, second, b);
        least = ms < least ? ms : least;
    }
    return least;
}

static int up(stream_t s) {
    return cudaMemcpyAsync(t.device, t.pinned, SIZE, H2D, s);
}
static int up2(stream_t s) {
    return cudaMemcpyAsync(t.device2, t.pinned, SIZE, H2D, s);
}
static int down(stream_t s) {
    return cudaMemcpyAsync(t.pinned2, t.device2, SIZE, D2H, s);
}
static int kernel(stream_t s) {
    return launch_add((int *)t.device2, 1000, 1, s);
}
static int large_kernel(stream_t s) {
    return launch_blocks(160, (int *)t.device2, 1000, 1, s);
}

static void test_overlap(void) {
    double both = pair_ms(up, t.stream[0], down, t.stream[1]);
    CHECK_TIME(both < (UP_MS + DOWN_MS) * 0.8, "up and down took %.3f together", both);
    both = pair_ms(up, t.stream[0], up2, t.stream[1]);
    CHECK_TIME(near(both, 2 * UP_MS), "two uploads took %.3f, one after the other %.3f", both,
               2 * UP_MS);
    both = pair_ms(up, t.stream[0], kernel, t.stream[1]);
    CHECK_TIME(both < (UP_MS + KERNEL_MS) * 0.8, "copy and kernel took %.3f together", both);
    both = pair_ms(up, t.stream[0], kernel, t.stream[0]);
    CHECK_TIME(near(both, UP_MS + KERNEL_MS), "in one stream %.3f", both);
    both = pair_ms(up, t.stream[0], kernel, NULL);
    CHECK_TIME(near(both, UP_MS + KERNEL_MS), "with the default stream %.3f", both);
    both = pair_ms(up, t.nonblocking, kernel, NULL);
    CHECK_TIME(both < (UP_MS + KERNEL_MS) * 0.8, "a non-blocking stream waited: %.3f", both);
}

static void test_kernels(void) {
    double both = pair_ms(kernel, t.stream[0], kernel, t.stream[1]);
    CHECK_TIME(both < KERNEL_MS * 1.6, "two kernels beside each other took %.3f", both);
    both = pair_ms(kernel, t.stream[0], large_kernel, t.stream[1]);
    CHECK_TIME(near(both, 2 * KERNEL_MS), "a kernel and one that needs all of it: %.3f", both);
    both = pair_ms(kernel, t.stream[0], kernel, t.stream[0]);
    CHECK_TIME(near(both, 2 * KERNEL_MS), "two kernels of one stream: %.3f", both);
}

/* The second stream waits for an event of the first. */
static int kernel_after(stream_t s) {
    event_t done;
    MUST(cudaEventCreate(&done));
    MUST(cudaEventRecord(done, t.stream[0]));
    MUST(cudaStreamWaitEvent(s, done, 0));
    MUST(cudaEventDestroy(done));
    return kernel(s);
}

/* Nothing but a wait is in the stream that the default stream waits for. */
static int kernel_after_wait(stream_t s) {
    MUST(cudaEventRecord(t.end, t.nonblocking));
    MUST(cudaStreamWaitEvent(t.stream[1], t.end, 0));
    return kernel(s);
}

static void test_events(void) {
    double ms = pair_ms(up, t.stream[0], kernel_after, t.stream[1]);
    CHECK_TIME(near(ms, UP_MS + KERNEL_MS), "a kernel that waits for a copy: %.3f", ms);
    ms = pair_ms(up, t.nonblocking, kernel_after_wait, NULL);
    CHECK_TIME(near(ms, UP_MS + KERNEL_MS), "behind a stream that waits for a copy: %.3f", ms);
}

static void test_results(void) {
    int values[1000], n = 1000;
    for (int i = 0; i < n; i++)
        values[i] = i;
    MUST(cudaMemcpyAsync(t.device, values, sizeof values, H2D, t.stream[0]));
    memset(values, 0, sizeof values); /* it was staged: this does no harm */
    MUST(launch_add((int *)t.device, n, 5, t.stream[0]));
    MUST(launch_add((int *)t.device, n, 6, t.stream[0]));
    MUST(cudaMemcpyAsync(values, t.device, sizeof values, D2H, t.stream[0]));
    for (int i = 0; i < n; i++)
        CHECK(values[i] == i + 11, "%d: %d", i, values[i]);
    MUST(cudaMemset(t.device, 3, 64));
    MUST(cudaMemcpy2D(values, 8, t.device, 16, 8, 4, D2H));
    CHECK(values[0] == 0x03030303 && values[7] == 0x03030303 && values[8] == 8 + 11, "2D copy");
}

static void set_flag(void *flag) {
    *(int *)flag = 1;
}

static void test_graph(void) {
    graph_t graph, executable;
    int values[8] = {0}, called = 0;
    MUST(cudaMemset(t.device, 0, sizeof values));
    MUST(cudaStreamBeginCapture(t.stream[0], 0));
    MUST(launch_add((int *)t.device, 8, 2, t.stream[0]));
    MUST(cudaLaunchHostFunc(t.stream[0], set_flag, &called));
    MUST(cudaStreamEndCapture(t.stream[0], &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(!called, "captured work was done");
    MUST(cudaGraphLaunch(executable, t.stream[0]));
    MUST(cudaGraphLaunch(executable, t.stream[0]));
    MUST(cudaStreamSynchronize(t.stream[0]));
    MUST(cudaMemcpy(values, t.device, sizeof values, D2H));
    CHECK(values[7] == 4 && called, "the graph gave %d", values[7]);
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
}

static void note_time(void *time) {
    double now = now_ms();
    __atomic_store((double *)time, &now, __ATOMIC_RELEASE);
}

static double read_time(double *time) {
    double value;
    __atomic_load(time, &value, __ATOMIC_ACQUIRE);
    return value;
}

static void sleep_for(void *ms) {
    nanosleep(&(struct timespec){0, *(int *)ms * 1000000l}, NULL);
}

/* When host functions run: after what is before them in their stream, also if nobody asks. */
static void test_host_functions(void) {
    double called = 0, other = 0, began = now_ms();
    int long_ms = 200;
    MUST(launch_add((int *)t.device, 1, 1, t.stream[0]));
    MUST(cudaLaunchHostFunc(t.stream[0], note_time, &called));
    MUST(cudaStreamSynchronize(t.stream[1]));
    MUST(cudaLaunchHostFunc(t.stream[1], note_time, &other));
    while (!read_time(&called) && now_ms() - began < 10000)
        sleep_for(&(int){1});
    CHECK(called >= began + KERNEL_MS, "called after %.3f ms", called - began);
    MUST(cudaStreamSynchronize(t.stream[1]));
    CHECK(other >= began, "the other is never called");
    called = 0;
    began = now_ms();
    MUST(launch_add((int *)t.device, 1, 1, t.stream[0]));
    MUST(cudaLaunchHostFunc(t.stream[0], note_time, &called));
    MUST(cudaStreamSynchronize(t.stream[0]));
    CHECK(called >= began + KERNEL_MS, "waited for, called after %.3f ms", called - began);
    MUST(cudaLaunchHostFunc(t.stream[0], sleep_for, &long_ms));
    sleep_for(&(int){20}); /* it runs by now */
    CHECK(cudaStreamQuery(t.stream[0]) == cudaErrorNotReady || now_ms() - began > long_ms,
          "a stream is idle while its host function runs");
    MUST(cudaStreamSynchronize(t.stream[0]));
    CHECK(now_ms() - began >= long_ms, "a host function was not waited for");
}

/* A launch queue has an end: far more work than it holds blocks, and is all done in order. */
static void test_many(void) {
    int value = 0;
    MUST(bp_sim_register_kernel("quick", (const void *)set_flag, add, sizes, 2000, 0));
    MUST(cudaMemset(t.device, 0, 4));
    for (int i = 0; i < 5000; i++) {
        int n = 1, k = 1;
        char *values = t.device;
        void *args[] = {&values, &n, &k};
        struct bp_sim_dim3 one = {1, 1, 1};
        MUST(cudaLaunchKernel((const void *)set_flag, one, one, args, 0, t.stream[i % 2]));
    }
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(&value, t.device, 4, D2H));
    CHECK(value == 5000, "%d of 5000 kernels ran", value);
}

static void *use_thread(void *device) {
    int *own, n = 5000, *values = calloc(5000, sizeof *values);
    MUST(cudaSetDevice(*(int *)device));
    MUST(cudaMalloc((void **)&own, 20000));
    for (int round = 0; round < 20; round++) {
        stream_t stream;
        MUST(cudaStreamCreate(&stream));
        MUST(cudaMemcpyAsync(own, values, 20000, H2D, stream));
        MUST(launch_blocks(160, own, n, 1, stream));
        MUST(cudaEventRecord(t.shared[*(int *)device], stream));
        while (cudaEventQuery(t.shared[*(int *)device]) == cudaErrorNotReady)
            nanosleep(&(struct timespec){0, 100000}, NULL);
        MUST(cudaMemcpyAsync(values, own, 20000, D2H, stream));
        MUST(cudaStreamDestroy(stream));
    }
    for (int i = 0; i < n; i++)
        CHECK(values[i] == 20, "%d: %d", i, values[i]);
    MUST(cudaFree(own));
    free(values);
    return NULL;
}

/* Two threads on one device share its engine; on two devices they do not. */
static double threads_ms(int first, int second) {
    pthread_t thread[2];
    int device[2] = {first, second};
    double began = now_ms();
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, use_thread, &device[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return now_ms() - began;
}

static void test_threads(void) {
    for (int i = 1; i >= 0; i--) {
        MUST(cudaSetDevice(i));
        MUST(cudaEventCreate(&t.shared[i]));
    }
    threads_ms(0, 1); /* makes the contexts */
    double shared = threads_ms(0, 0), apart = threads_ms(0, 1);
    for (int i = 0; i < RUNS && apart >= shared * 0.8; i++) { /* a busy machine: once more */
        double again = threads_ms(0, 1);
        apart = again < apart ? again : apart;
    }
    CHECK(shared >= 2 * 20 * KERNEL_MS, "40 kernels on one device in %.1f ms", shared);
    CHECK_TIME(apart < shared * 0.8, "two devices: %.1f ms, one: %.1f", apart, shared);
}

static void test_peers(void) {
    char *far;
    int count;
    MUST(cudaGetDeviceCount(&count));
    CHECK(count == 2, "%d devices", count);
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc((void **)&far, SIZE));
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpy(t.device, t.pinned, SIZE, H2D));
    double ms[2];
    for (int i = 0; i < 2; i++) {
        MUST(cudaDeviceSynchronize());
        MUST(cudaEventRecord(t.begin, NULL));
        MUST(cudaMemcpyPeer(far, 1, t.device, 0, SIZE));
        MUST(cudaEventRecord(t.end, NULL));
        ms[i] = between(t.begin, t.end);
        if (!i)
            MUST(cudaDeviceEnablePeerAccess(1, 0));
    }
    CHECK(ms[0] > 1.9 * ms[1], "through the host %.3f, direct %.3f", ms[0], ms[1]);
    memset(t.pinned2, 0, SIZE);
    MUST(cudaMemcpy(t.pinned2, far, SIZE, D2H));
    CHECK(!memcmp(t.pinned, t.pinned2, SIZE), "the copy is another");
}

/* Memory of a stream: freed in its order, without waiting. */
static void test_async_memory(void) {
    int *memory, values[16] = {0};
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        MUST(cudaMallocAsync((void **)&memory, sizeof values, t.stream[0]));
        MUST(cudaMemcpyAsync(memory, values, sizeof values, H2D, t.stream[0]));
        double began = now_ms();
        MUST(launch_add(memory, 16, 3, t.stream[0]));
        MUST(cudaFreeAsync(memory, t.stream[0]));
        least = now_ms() - began < least ? now_ms() - began : least;
        MUST(cudaStreamSynchronize(t.stream[0]));
    }
    CHECK_TIME(least < KERNEL_MS / 2, "freeing waited for %.3f ms", least);
    CHECK(cudaFreeAsync(values, t.stream[0]) == cudaErrorInvalidValue, "not CUDA's memory");
    cudaGetLastError();
}

static void test_registered(void) {
    MUST(cudaHostRegister(t.pageable, SIZE, 0));
    CHECK(cudaHostRegister(t.pageable, SIZE, 0) == cudaErrorHostMemoryAlreadyRegistered, "twice");
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double began = now_ms();
        MUST(cudaMemcpyAsync(t.device, t.pageable, SIZE, H2D, t.stream[0]));
        best = now_ms() - began < best ? now_ms() - began : best;
        MUST(cudaStreamSynchronize(t.stream[0]));
    }
    CHECK_TIME(best < UP_MS / 4, "registered memory blocked for %.3f ms", best);
    MUST(cudaHostUnregister(t.pageable));
    CHECK(cudaHostUnregister(t.pageable) == cudaErrorHostMemoryNotRegistered, "twice");
}

static int *managed;

static int prefetch(stream_t s) {
    return PREFETCH(managed, SIZE, 0, s);
}
static int prefetch_back(stream_t s) {
    return PREFETCH(managed, SIZE, -1, s);
}
static int use(stream_t s) {
    return launch_add(managed, 1000, 1, s);
}
static int nothing(stream_t s) {
    (void)s;
    return 0;
}

static void test_managed(void) {
    stream_t s = t.stream[0];
    MUST(cudaMallocManaged((void **)&managed, SIZE, 1));
    double there = pair_once(prefetch, s, nothing, s), again = pair_once(prefetch, s, nothing, s);
    CHECK_TIME(there > UP_MS && there < 1.5 * UP_MS, "pages came in %.3f ms", there);
    CHECK_TIME(again < UP_MS / 4, "pages that are there came again, in %.3f ms", again);
    double used = pair_once(use, s, nothing, s);
    CHECK_TIME(used < KERNEL_MS * 1.5, "a kernel with its pages took %.3f ms", used);
    double back = pair_once(prefetch_back, s, nothing, s);
    CHECK_TIME(back > DOWN_MS && back < 1.5 * DOWN_MS, "pages went back in %.3f ms", back);
    used = pair_once(use, s, nothing, s);
    CHECK(used > UP_MS + KERNEL_MS, "a kernel without its pages took %.3f ms", used);
    CHECK(managed[999] == 2, "%d", managed[999]);
    double began = now_ms();
    bp_sim_touch(managed, SIZE);
    double touched = now_ms() - began;
    bp_sim_touch(managed, SIZE);
    again = now_ms() - began - touched;
    CHECK(touched > DOWN_MS + 72 * 0.01, "pages that are touched came in %.3f ms", touched);
    CHECK_TIME(again < touched / 4, "and again in %.3f ms", again);
    CHECK(PREFETCH(t.device, 64, 0, s) == cudaErrorInvalidValue, "not managed");
    cudaGetLastError();
    MUST(cudaFree(managed));
}

int main(void) {
    prepare();
    test_blocking();
    test_async();
    test_overlap();
    test_kernels();
    test_managed();
    test_events();
    test_results();
    test_graph();
    test_host_functions();
    test_many();
    test_threads();
    test_peers();
    test_async_memory();
    test_registered();
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamDestroy(t.stream[i]));
    MUST(cudaStreamDestroy(t.nonblocking));
    MUST(cudaFree(t.device));
    MUST(cudaFreeHost(t.pinned));
    CHECK(cudaFree(t.pageable) == cudaErrorInvalidValue, "not CUDA's memory");
    return finish();
}
