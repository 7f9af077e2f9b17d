/* SPDX-License-Identifier: MIT
 *
 * The simulated libcupti as a tool uses it, linked to one generation: buffers come back, records
 * are complete, of the right size and consistent, and each fault does what it says. The argument is
 * the fault that the environment asks for, "own" for ids of the driver's own, or nothing.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cuda/sim/cupti/records.h"
#include "tests/cuda/sim/cuda.h"

#define BUFFER 4096 /* small, so that many come back by the thread: */
#define FROM_THREAD 10
#define ROUNDS 200
#define COPY 4096
#define EXTERNAL 3
#define IDS (16 * ROUNDS)
#define DRIVER_COPY 277 /* cuMemcpyHtoDAsync_v2 */

int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityFlushPeriod(uint32_t ms);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union bp_cupti_record **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last);
int cuptiGetTimestamp(uint64_t *time);
int cuptiGetVersion(uint32_t *version);

static struct {
    pthread_mutex_t lock;
    pthread_t main;
    size_t buffers, from_thread, dropped;
    size_t memcpys, kernels, memsets, calls, driver_calls, externals, syncs, memories, bytes;
    uint64_t external_of[IDS], copied_by[IDS];
    struct bp_cupti_api runtime[IDS], driver[IDS]; /* by correlation id */
    uint64_t first;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = aligned_alloc(8, BUFFER);
    *size = BUFFER;
    *max_records = 0;
}

static void take_copy(const struct bp_cupti_memcpy *r) {
    seen.memcpys++;
    seen.bytes += r->bytes;
    CHECK(r->bytes == COPY && r->copy == 1 && r->source == 2 && r->target == 3, "a wrong copy");
    CHECK(r->flags == 1 && r->device == 0 && r->context == 1 && r->stream >= 13, "a wrong copy");
    CHECK(r->end > r->start && r->end - r->start < 1000000, "%lu ns", r->end - r->start);
    CHECK(r->start >= seen.first && r->end < seen.first + 60000000000, "outside of the run");
    if (r->correlation < IDS)
        seen.copied_by[r->correlation] = r->runtime_correlation;
}

static void take_call(const struct bp_cupti_api *r, struct bp_cupti_api *calls) {
    CHECK(r->process == (uint32_t)getpid(), "another process");
    CHECK(r->correlation < IDS && !calls[r->correlation].kind, "id %u", r->correlation);
    if (r->correlation < IDS)
        calls[r->correlation] = *r;
}

static void take(const union bp_cupti_record *record) {
    switch (record->kind) {
    case BP_CUPTI_MEMCPY:
        take_copy(&record->memcpy);
        break;
    case BP_CUPTI_CONCURRENT_KERNEL:
        seen.kernels++;
        CHECK(!strcmp(record->kernel.name, "work") && record->kernel.grid[0] == 4 &&
                  record->kernel.block[0] == 128,
              "a wrong kernel %s", record->kernel.name);
        CHECK(record->kernel.end - record->kernel.start == 20000, "a kernel of another length");
        break;
    case BP_CUPTI_MEMSET:
        seen.memsets++;
        CHECK(record->memset.value == 7, "filled with %u", record->memset.value);
        break;
    case BP_CUPTI_RUNTIME:
        seen.calls++;
        take_call(&record->api, seen.runtime);
        break;
    case BP_CUPTI_DRIVER:
        seen.driver_calls++;
        take_call(&record->api, seen.driver);
        break;
    case BP_CUPTI_EXTERNAL_CORRELATION:
        seen.externals++;
        CHECK(record->external.external_kind == EXTERNAL, "another kind");
        if (record->external.correlation < IDS)
            seen.external_of[record->external.correlation] = record->external.external;
        break;
    case BP_CUPTI_SYNCHRONIZATION:
        seen.syncs++;
        break;
    case BP_CUPTI_MEMORY2:
        seen.memories++;
        break;
    default:
        CHECK(false, "kind %u", record->kind);
    }
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    union bp_cupti_record *record = NULL;
    size_t dropped;
    (void)context, (void)stream, (void)size;
    pthread_mutex_lock(&seen.lock);
    seen.buffers++;
    seen.from_thread += !pthread_equal(pthread_self(), seen.main);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
        take(record);
    if (!cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped))
        seen.dropped += dropped;
    pthread_mutex_unlock(&seen.lock);
    free(buffer);
}

static void work(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    (void)grid, (void)block, (void)args;
}

static int enable(void) {
    static const uint32_t kinds[] = {
        BP_CUPTI_MEMCPY,  BP_CUPTI_MEMSET,          BP_CUPTI_CONCURRENT_KERNEL,
        BP_CUPTI_RUNTIME, BP_CUPTI_SYNCHRONIZATION, BP_CUPTI_EXTERNAL_CORRELATION,
        BP_CUPTI_DRIVER,  BP_CUPTI_MEMORY2};
    int error = cuptiActivityRegisterCallbacks(request, complete);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !error; i++)
        error = cuptiActivityEnable(kinds[i]);
    return error;
}

/* Calls of a round: copy, launch, set, synchronise; the copy under an external id. */
static void run(void) {
    char *device, *host;
    stream_t stream;
    uint64_t last;
    const struct bp_sim_dim3 grid = {4, 1, 1}, block = {128, 1, 1};
    bp_sim_register_kernel("work", (const void *)work, work, NULL, 20000, 0);
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc((void **)&device, COPY));
    MUST(cudaMallocHost((void **)&host, COPY));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        MUST(cuptiActivityPushExternalCorrelationId(EXTERNAL, i + 1));
        MUST(cudaMemcpyAsync(device, host, COPY, H2D, stream));
        MUST(cuptiActivityPopExternalCorrelationId(EXTERNAL, &last));
        CHECK(last == i + 1, "popped %lu", last);
        MUST(cudaLaunchKernel((const void *)work, grid, block, NULL, 0, stream));
        MUST(cudaMemset(device, 7, COPY));
        MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamDestroy(stream));
}

/* Full buffers come by libcupti's thread, which may have to wait for a processor: a flush would
 * bring them before. */
static void await_thread(void) {
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&seen.lock);
        bool enough = seen.from_thread > FROM_THREAD;
        pthread_mutex_unlock(&seen.lock);
        if (enough)
            return;
        usleep(1000);
    }
}

/* The driver's part of a copy lies within the runtime's call. */
static void check_nesting(size_t id, bool own) {
    uint64_t outer = seen.copied_by[id];
    CHECK(outer < IDS && own == (outer != id), "id %zu of the runtime's %lu", id, outer);
    const struct bp_cupti_api *driver = &seen.driver[id], *runtime = &seen.runtime[outer];
    CHECK(driver->cbid == DRIVER_COPY && runtime->cbid == 41, "%u within %u", driver->cbid,
          runtime->cbid);
    CHECK(runtime->start <= driver->start && driver->end <= runtime->end, "not within it");
    CHECK(seen.external_of[outer] == seen.external_of[id], "external id %lu of %lu",
          seen.external_of[id], seen.external_of[outer]);
}

static void check_complete(bool own) {
    CHECK(seen.memcpys == ROUNDS && seen.kernels == ROUNDS && seen.memsets == ROUNDS,
          "%zu copies, %zu kernels, %zu fills", seen.memcpys, seen.kernels, seen.memsets);
    CHECK(seen.bytes == (size_t)ROUNDS * COPY, "%zu bytes", seen.bytes);
    CHECK(seen.externals == 2 * ROUNDS, "%zu external ids", seen.externals);
    CHECK(seen.calls == 4 * ROUNDS + 5 && seen.driver_calls == seen.calls, "%zu and %zu calls",
          seen.calls, seen.driver_calls);
    CHECK(seen.syncs == ROUNDS + 1 && seen.memories == 2, "%zu syncs, %zu memory", seen.syncs,
          seen.memories);
    CHECK(seen.dropped == 0, "%zu dropped", seen.dropped);
    uint64_t next = 1;
    for (size_t i = 0; i < IDS; i++) {
        if (!seen.copied_by[i])
            continue;
        CHECK(seen.external_of[i] == next++, "external id %lu", seen.external_of[i]);
        check_nesting(i, own);
    }
    CHECK(next == ROUNDS + 1, "%lu copies with their ids", next - 1);
}

static void settle(void) {
    MUST(cuptiActivityFlushAll(0));
    usleep(100000); /* the thread may hold some */
    MUST(cuptiActivityFlushAll(1));
    pthread_mutex_lock(&seen.lock);
}

/* Faults where records come at all. */
static void check_fault(const char *fault) {
    if (!strcmp(fault, "drop-buffers"))
        CHECK(seen.dropped > 0 && seen.calls > 0 && seen.calls < 4 * ROUNDS,
              "%zu dropped, %zu seen", seen.dropped, seen.calls);
    else if (!strcmp(fault, "stolen-callback"))
        CHECK(seen.calls < ROUNDS, "%zu calls seen", seen.calls);
    else
        CHECK(seen.calls < 4 * ROUNDS, "%zu calls at once", seen.calls);
    if (strncmp(fault, "late-", 5))
        return;
    pthread_mutex_unlock(&seen.lock);
    usleep(600000);
    settle();
    check_complete(false);
}

static void *flush(void *returned) {
    cuptiActivityFlushAll(0);
    __atomic_store_n((int *)returned, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void check_hang(void) {
    static int returned;
    pthread_t thread;
    pthread_create(&thread, NULL, flush, &returned);
    usleep(300000);
    CHECK(!__atomic_load_n(&returned, __ATOMIC_ACQUIRE), "the flush came back");
}

int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    uint32_t version;
    seen.main = pthread_self();
    MUST(cuptiGetVersion(&version));
    MUST(cuptiGetTimestamp(&seen.first));
    int error = enable(), wanted = !strcmp(fault, "no-driver")       ? 999
                                   : !strcmp(fault, "no-privileges") ? 35
                                                                     : 0;
    CHECK(error == wanted, "enabling gave %d, not %d", error, wanted);
    if (!strcmp(fault, "no-driver")) {
        int count;
        CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && !count, "a device");
        return failures != 0;
    }
    run();
    if (error) {
        CHECK(seen.buffers == 0, "records without privileges");
        return failures != 0;
    }
    if (!strcmp(fault, "hang-flush")) {
        check_hang();
        return failures != 0;
    }
    bool own = !strcmp(fault, "own");
    if (!fault[0] || own)
        await_thread();
    settle();
    if (fault[0] && !own) {
        check_fault(fault);
    } else {
        check_complete(own);
        CHECK(seen.from_thread > FROM_THREAD, "%zu of %zu buffers by the thread", seen.from_thread,
              seen.buffers);
    }
    printf("CUPTI %u, %zu buffers, %d failures\n", version, seen.buffers, failures);
    return failures != 0;
}
