/* SPDX-License-Identifier: MIT
 *
 * A program that copies and computes on a device, in the way its argument says. It prints the same
 * with and without a profiler: "ok", or what went wrong.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/copy.h"
#include "tests/cuda/subjects/kernels.h"
#include "tests/cuda/sim/cuda.h"

#define BYTES (24u << 20) /* 2 ms pinned, 4 ms pageable on a T4 */
#define ROUNDS 12

static struct {
    char *host, *pinned, *device, *other;
    stream_t one, two;
    int count, signal;
} state;

static int launch(int ms, stream_t stream) {
    struct bp_sim_dim3 one = {1, 1, 1};
    return cudaLaunchKernel(kernel_stub(ms), one, one, NULL, 0, stream);
}

static void compute_on_host(double ms) {
    double end = now_ms() + ms;
    while (now_ms() < end)
        continue;
}

static void prepare(void) {
    state.host = malloc(BYTES);
    memset(state.host, 1, BYTES);
    MUST(cudaMalloc((void **)&state.device, BYTES));
    MUST(cudaMalloc((void **)&state.other, BYTES));
    MUST(cudaMallocHost((void **)&state.pinned, BYTES));
    memset(state.pinned, 2, BYTES);
    MUST(cudaStreamCreateWithFlags(&state.one, 1));
    MUST(cudaStreamCreateWithFlags(&state.two, 1));
}

static void sync_copies(char *host) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpy(state.device, host, BYTES, H2D));
        MUST(cudaMemcpy(host, state.device, BYTES, D2H));
    }
}

static void pageable(void) {
    sync_copies(state.host);
}

static void pinned(void) {
    sync_copies(state.pinned);
}

static void async(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
        MUST(cudaMemcpyAsync(state.pinned, state.device, BYTES, D2H, state.one));
        MUST(cudaStreamSynchronize(state.one));
    }
}

/* Kernels that a blocking copy waits for. */
static void kernels(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(launch(2, NULL));
        MUST(dsl_launch(3, NULL));
        MUST(cudaMemcpy(state.host, state.device, BYTES / 4, D2H));
        MUST(cudaMemset(state.device, 0, BYTES));
    }
}

/* Downloads that were to be asynchronous: they wait for the kernel in front of them. */
static void stalled(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(launch(5, state.one));
        MUST(cudaMemcpyAsync(state.host, state.device, 4096, D2H, state.one));
    }
}

/* Copies while the host computes: some of each is hidden. */
static void hidden(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
        compute_on_host(1);
        MUST(cudaStreamSynchronize(state.one));
    }
}

/* Copies of one stream beside kernels of another. */
static void overlapped(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(dsl_launch(4, state.one));
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.two));
        MUST(cudaMemcpyAsync(state.pinned, state.other, BYTES / 2, D2H, state.one));
        MUST(cudaDeviceSynchronize());
    }
}

static void *second(void *unused) {
    stream_t stream;
    (void)unused;
    MUST(cudaSetDevice(state.count > 1));
    MUST(cudaStreamCreateWithFlags(&stream, 1));
    char *device, *host;
    MUST(cudaMalloc((void **)&device, BYTES));
    MUST(cudaMallocHost((void **)&host, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(dsl_launch(2, stream));
        MUST(cudaMemcpyAsync(host, device, BYTES, D2H, stream));
        MUST(cudaStreamSynchronize(stream));
        compute_on_host(1);
    }
    return NULL;
}

/* With two devices the second thread uses the second. */
static void two_threads(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
        MUST(launch(1, state.one));
        MUST(cudaStreamSynchronize(state.one));
    }
    pthread_join(thread, NULL);
}

static void peers(void) {
    char *far;
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc((void **)&far, BYTES));
    MUST(cudaSetDevice(0));
    for (int i = 0; i < ROUNDS; i++)
        MUST(cudaMemcpyPeer(far, 1, state.device, 0, BYTES));
    MUST(cudaMemcpy(state.device, state.host, BYTES, H2D));
}

static void peer_access(void) {
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    peers();
}

static void graph(void) {
    graph_t graph, executable;
    MUST(cudaStreamBeginCapture(state.one, 0));
    MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
    MUST(dsl_launch(2, state.one));
    MUST(launch(3, state.one));
    MUST(cudaStreamEndCapture(state.one, &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaGraphLaunch(executable, state.one));
        MUST(cudaStreamSynchronize(state.one));
    }
}

/* Pages go to the last device because it is asked for, come back, and go to it again because a
 * kernel uses them. */
static void managed(void) {
    char *memory;
    MUST(cudaMallocManaged((void **)&memory, BYTES, 1));
    MUST(cudaSetDevice(state.count - 1));
    stream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, 1));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(PREFETCH(memory, BYTES, state.count - 1, stream));
        MUST(PREFETCH(memory, BYTES, state.count - 1, stream)); /* they are there */
        MUST(dsl_use(memory, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(PREFETCH(memory, BYTES / 2, -1, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(dsl_use(memory, stream)); /* the half that is not there */
        MUST(PREFETCH(memory, BYTES, -1, stream));
        compute_on_host(1);
        MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaFree(memory));
}

/* A kernel fetches the pages, the host touches them and has them back. */
static void touched(void) {
    char *memory;
    MUST(cudaMallocManaged((void **)&memory, BYTES, 1));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(dsl_use(memory, state.one));
        MUST(cudaStreamSynchronize(state.one));
        bp_sim_touch(memory, BYTES / 2);
        memory[i]++;
        compute_on_host(1);
    }
    MUST(cudaFree(memory));
}

/* More launches than the device queues. */
static void queue(void) {
    for (int i = 0; i < 2000; i++)
        MUST(dsl_launch_short(state.one));
    MUST(cudaStreamSynchronize(state.one));
}

/* Kernels of two streams beside each other, one within the other's time. */
static void concurrent(void) {
    for (int i = 0; i < ROUNDS; i++) {
        MUST(dsl_launch(4, state.one));
        MUST(launch(3, state.two));
        MUST(cudaDeviceSynchronize());
    }
}

#define PITCH 8192u
#define WIDTH 5000u
#define ROWS 500u

static void copy_3d(char *target, const char *source, int kind) {
    struct bp_cuda_3d parameters = {.source = (uint64_t)source,
                                    .source_pitch = PITCH,
                                    .source_height = ROWS / 2,
                                    .target = (uint64_t)target,
                                    .target_pitch = PITCH,
                                    .target_height = ROWS / 2,
                                    .width = WIDTH,
                                    .height = ROWS / 4,
                                    .depth = 2,
                                    .kind = (uint32_t)kind};
    MUST(cudaMemcpy3D(&parameters));
}

/* Copies that are told in other ways than by (target, source, size): each once. */
static void shapes(void) {
    static char symbol[100000];
    char *far, *host = state.host, *device = state.device;
    MUST(bp_sim_add_symbol(symbol, "symbol", sizeof symbol));
    MUST(cudaMemcpy2D(device, PITCH, host, PITCH + 64, WIDTH, ROWS, H2D));
    MUST(cudaMemcpy2D(host, PITCH, device, PITCH, WIDTH - 1, ROWS, D2H));
    MUST(cudaMemcpy2DAsync(device, PITCH, host, PITCH, WIDTH - 2, ROWS, H2D, state.one));
    MUST(cudaStreamSynchronize(state.one));
    copy_3d(device, host, H2D);
    copy_3d(host, device, D2H);
    MUST(cudaMemcpyToSymbol(symbol, host, 90000, 1000, H2D));
    MUST(cudaMemcpyFromSymbol(host, symbol, 80000, 2000, D2H));
    MUST(cudaMemcpy(device, host, 70000, DEFAULT));
    MUST(cudaMemcpy(state.pinned, device, 60000, DEFAULT));
    MUST(cudaMemcpy(state.other, device, 50000, D2D));
    MUST(cudaMemcpy(state.pinned, host, 40000, H2H));
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc((void **)&far, BYTES));
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpyPeer(far, 1, device, 0, 30000));
}

/* The same rows go up three times, come back, and go up once more, out of another place. */
static void content_2d(void) {
    for (unsigned i = 0; i < BYTES; i++)
        state.host[i] = (char)(i % 253);
    for (int i = 0; i < 3; i++)
        MUST(cudaMemcpy2D(state.device, PITCH, state.host, PITCH, WIDTH, ROWS, H2D));
    state.host[WIDTH] ^= 1; /* between the rows: of no interest */
    MUST(cudaMemcpy2D(state.device, PITCH, state.host, PITCH, WIDTH, ROWS, H2D));
    state.host[PITCH] ^= 1; /* in the second */
    MUST(cudaMemcpy2D(state.device, PITCH, state.host, PITCH, WIDTH, ROWS, H2D));
    MUST(cudaMemcpy2D(state.pinned, PITCH, state.device, PITCH, WIDTH, ROWS, D2H));
}

/* 10 uploads of which 8 are duplicates, and what comes back is what went up. */
static void content(void) {
    for (int i = 0; i < 10; i++) {
        state.host[0] = (char)(i / 5);
        MUST(cudaMemcpy(state.device, state.host, 1 << 20, H2D));
    }
    MUST(cudaMemcpy(state.pinned, state.device, 1 << 20, D2H));
    MUST(cudaMemcpyAsync(state.pinned, state.device, 1 << 20, D2H, state.one));
    MUST(cudaStreamSynchronize(state.one));
    MUST(cudaMemcpy(state.pinned, state.other, 1 << 20, D2H)); /* something else */
}

/* Up, and down again, all of it before it is looked at. */
static void content_many(void) {
    enum { PIECES = 200, PIECE = 65536 };
    for (int i = 0; i < PIECES; i++) {
        memcpy(state.host + i * PIECE, &i, sizeof i);
        MUST(cudaMemcpy(state.device + i * PIECE, state.host + i * PIECE, PIECE, H2D));
    }
    for (int i = 0; i < PIECES; i++)
        MUST(cudaMemcpyAsync(state.pinned + i * PIECE, state.device + i * PIECE, PIECE, D2H,
                             state.one));
    MUST(cudaStreamSynchronize(state.one));
}

/* In a sandbox that refuses to read memory by a system call; where there can be none, without. */
static void content_unread(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fprintf(stderr, "no sandbox\n");
    content();
}

static void small(void) {
    for (int i = 0; i < 20000; i++)
        MUST(cudaMemcpy(state.device, state.host, 64, H2D));
}

/* Each is over before its call is: CUPTI's record of the copy comes before the one that says whose
 * it is. */
static void small_blocking(void) {
    for (int i = 0; i < 8000; i++)
        MUST(cudaMemcpy(state.device, state.pinned, 64, H2D));
}

static void *churned(void *unused) {
    stream_t stream;
    (void)unused;
    MUST(cudaStreamCreateWithFlags(&stream, 1));
    for (int i = 0; i < 50; i++) {
        MUST(cudaMemcpyAsync(state.device, state.pinned, 4096, H2D, stream));
        MUST(dsl_upload(state.other, state.host, 64));
        if (i % 10 == 0)
            MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaStreamDestroy(stream));
    return NULL;
}

/* Threads that come and go, more of them than the profile keeps apart. */
static void churn(void) {
    pthread_t threads[8];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, churned, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
}

static long resident_kb(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4;
}

/* A million calls; how much memory the second half takes. */
static void million(void) {
    long half = 0;
    for (int i = 0; i < 1000000; i++) {
        if (i == 500000)
            half = resident_kb();
        if (i % 64 == 0)
            MUST(cudaMemcpyAsync(state.device, state.pinned, 64, H2D, state.one));
        else
            MUST(cudaEventRecord(NULL, state.one) & 0);
        if (i % 1024 == 0)
            MUST(cudaStreamSynchronize(state.one));
    }
    fprintf(stderr, "growth %ld kB of %ld kB\n", resident_kb() - half, half);
}

static void fork_child(void) {
    pinned();
    pid_t child = fork();
    if (child == 0) {
        int count = 0;
        int error = cudaGetDeviceCount(&count);
        error = cudaMemcpy(state.device, state.host, 64, H2D);
        _exit(error != 0 ? 7 : 0); /* CUDA does not work in a child */
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "child: %x", (unsigned)status);
    pinned();
}

static void in_flight(void) {
    pinned();
    for (int i = 0; i < 20; i++)
        MUST(dsl_launch(20, state.one));
    printf("ok\n");
    exit(3);
}

static void *copy_forever(void *unused) {
    for (;;)
        MUST(dsl_upload(state.other, state.host, 64));
    return unused;
}

/* Other threads go on while the process ends. */
static void others(void) {
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, copy_forever, NULL);
    usleep(300000);
    printf("ok\n");
    exit(6);
}

static void leave_by(void (*way)(int)) {
    pinned();
    printf("ok\n");
    fflush(stdout);
    way(4);
}

static void leave_by__exit(void) {
    leave_by(_exit);
}

static void leave_by_quick_exit(void) {
    leave_by(quick_exit);
}

static void killed(void) {
    double end = now_ms() + 2500;
    while (now_ms() < end)
        sync_copies(state.pinned);
    raise(SIGKILL);
}

/* Copies within a call that is not known to submit any: no record says whose they are. */
static void unseen(void) {
    struct bp_sim_copy copy = {.target = state.device,
                               .source = state.pinned,
                               .width = BYTES,
                               .height = 1,
                               .depth = 1,
                               .direction = H2D};
    MUST(cudaStreamQuery(state.one));
    for (int i = 0; i < 2; i++)
        MUST(bp_sim_copy(&copy, NULL));
}

/* More than the collector awaits at a time. */
static void launches(void) {
    static char tiny;
    struct bp_sim_dim3 one = {1, 1, 1};
    MUST(bp_sim_register_kernel("tiny", &tiny, NULL, NULL, 2000, 0));
    for (int i = 0; i < 70000; i++) {
        MUST(cudaLaunchKernel(&tiny, one, one, NULL, 0, i % 2 ? state.one : state.two));
        if (i % 1000 == 0)
            MUST(cudaMemcpyAsync(state.device, state.pinned, 4096, H2D, state.one));
    }
}

/* Calls of which no record will come, between copies. */
static void killed_nothing(void) {
    double end = now_ms() + 1600;
    while (now_ms() < end) {
        MUST(cudaMemcpy(state.device, state.pinned, 0, H2D));
        MUST(cudaMemcpyAsync(state.device, state.pinned, 0, H2D, state.one));
        MUST(cudaMemcpy(state.host, state.pinned, 1000, H2H));
        MUST(cudaMemset(state.device, 0, 0));
        MUST(cudaMemcpy(state.device, state.pinned, BYTES, H2D));
    }
    raise(SIGKILL);
}

static void killed_kernels(void) {
    double end = now_ms() + 1600;
    while (now_ms() < end) {
        MUST(dsl_launch_short(state.one));
        MUST(cudaMemcpyAsync(state.device, state.pinned, BYTES, H2D, state.one));
        MUST(cudaStreamSynchronize(state.one));
    }
    raise(SIGKILL);
}

static void raise_signal(void) {
    for (int i = 0; i < 10; i++)
        MUST(cudaMemcpy(state.device, state.host, 1 << 20, H2D));
    for (int i = 0; i < 5; i++)
        MUST(cudaMemcpyAsync(state.pinned, state.device, 1 << 20, D2H, state.one));
    for (int i = 0; i < 3; i++)
        MUST(cudaMemcpyAsync(state.other, state.device, 1 << 20, D2D, state.one));
    raise(state.signal);
}

/* Over before the profiler's thread has looked for the first time. */
static void brief(void) {
    for (int i = 0; i < 10; i++)
        MUST(cudaMemcpy(state.device, state.pinned, 1 << 16, H2D));
    for (int i = 0; i < 10; i++)
        MUST(cudaMemcpy(state.pinned, state.device, 1 << 16, D2H));
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"pageable", pageable},
    {"pinned", pinned},
    {"async", async},
    {"kernels", kernels},
    {"stalled", stalled},
    {"hidden", hidden},
    {"overlapped", overlapped},
    {"threads", two_threads},
    {"peers", peers},
    {"graph", graph},
    {"content", content},
    {"content-many", content_many},
    {"content-unread", content_unread},
    {"small", small},
    {"million", million},
    {"peer-access", peer_access},
    {"churn", churn},
    {"fork", fork_child},
    {"in-flight", in_flight},
    {"_exit", leave_by__exit},
    {"quick_exit", leave_by_quick_exit},
    {"killed", killed},
    {"launches", launches},
    {"unseen", unseen},
    {"killed-nothing", killed_nothing},
    {"killed-kernels", killed_kernels},
    {"managed", managed},
    {"concurrent", concurrent},
    {"shapes", shapes},
    {"content-2d", content_2d},
    {"queue", queue},
    {"others", others},
    {"small-blocking", small_blocking},
    {"touched", touched},
    {"raise", raise_signal},
    {"brief", brief},
};

int main(int argc, char **argv) {
    if (cudaGetDeviceCount(&state.count) != 0) {
        printf("no device\n");
        return 5;
    }
    prepare();
    state.signal = argc > 2 ? atoi(argv[2]) : SIGTERM;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
