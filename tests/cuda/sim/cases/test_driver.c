/* SPDX-License-Identifier: MIT
 *
 * The driver as programs without the runtime use it: contexts, modules, kernels that compute,
 * fills of every width, streams and events.
 */
#include <string.h>

#include "tests/cuda/sim/cuda.h"

#define COUNT 1000
#define NOT_FOUND 500
#define NO_CONTEXT 201

typedef void *handle;
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDevicePrimaryCtxRetain(handle *context, int device);
int cuCtxGetCurrent(handle *context);
int cuCtxPushCurrent_v2(handle context);
int cuCtxPopCurrent_v2(handle *context);
int cuCtxGetDevice(int *device);
int cuModuleLoadData(handle *module, const void *image);
int cuModuleUnload(handle module);
int cuModuleGetFunction(handle *function, handle module, const char *name);
int cuLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream_t stream, void **args, void **extra);
int cuMemAlloc_v2(void **memory, size_t size);
int cuMemFree_v2(void *memory);
int cuMemsetD32Async(void *target, unsigned value, size_t count, stream_t stream);
int cuMemsetD16_v2(void *target, unsigned short value, size_t count);
int cuMemcpyDtoH_v2(void *target, const void *source, size_t size);
int cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t size, stream_t stream);
int cuStreamCreate(stream_t *stream, unsigned flags);
int cuStreamSynchronize(stream_t stream);
int cuStreamQuery(stream_t stream);
int cuEventCreate(event_t *event, unsigned flags);
int cuEventRecord(event_t event, stream_t stream);
int cuEventSynchronize(event_t event);
int cuEventElapsedTime(float *ms, event_t from, event_t to);
int cuEventDestroy_v2(event_t event);
int cuStreamDestroy_v2(stream_t stream);
int cuGetErrorString(int error, const char **text);
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);

static const char ptx[] =
    ".version 8.0\n.target sm_75\n.visible .entry add_to(\n.param .u64 p) {}\n";

static void add_to(struct bp_sim_dim3 grid, struct bp_sim_dim3 block, void **args) {
    int *values = *(int **)args[0], k = *(int *)args[1];
    (void)grid, (void)block;
    for (int i = 0; i < COUNT; i++)
        values[i] += k;
}

static handle test_context(void) {
    handle context, current = &context;
    int device = -1, value = 0;
    size_t bytes = 0;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 1));
    MUST(cuDeviceGetAttribute(&value, 16, device));
    CHECK(value == 40, "%d multiprocessors", value);
    MUST(cuDeviceTotalMem_v2(&bytes, device));
    CHECK(bytes == (size_t)15095 << 20, "%zu bytes", bytes);
    MUST(cuCtxGetCurrent(&current));
    CHECK(!current, "there is a context");
    CHECK(cuCtxPopCurrent_v2(&current) == NO_CONTEXT, "popped");
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxPushCurrent_v2(context));
    MUST(cuCtxGetDevice(&device));
    CHECK(device == 1, "device %d", device);
    return context;
}

static void test_kernel(void) {
    static const size_t sizes[] = {8, 4, 0};
    handle module, function, none;
    int *memory, host[COUNT], k = 5;
    stream_t stream;
    event_t begin, end;
    float ms = 0;
    MUST(bp_sim_register_kernel("add_to", NULL, add_to, sizes, 2000000, 0));
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&function, module, "add_to"));
    CHECK(cuModuleGetFunction(&none, module, "nonsense") == NOT_FOUND, "a kernel from nowhere");
    MUST(cuMemAlloc_v2((void **)&memory, sizeof host));
    MUST(cuStreamCreate(&stream, 1));
    MUST(cuEventCreate(&begin, 0));
    MUST(cuEventCreate(&end, 0));
    MUST(cuMemsetD32Async(memory, 70000, COUNT, stream));
    MUST(cuEventRecord(begin, stream));
    void *args[] = {&memory, &k};
    MUST(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    MUST(cuEventRecord(end, stream));
    CHECK(cuStreamQuery(stream) == cudaErrorNotReady, "the stream is idle");
    MUST(cuEventSynchronize(end));
    MUST(cuEventElapsedTime(&ms, begin, end));
    CHECK(ms > 1.9f && ms < 2.2f, "%f ms", (double)ms);
    MUST(cuMemcpyDtoH_v2(host, memory, sizeof host));
    CHECK(host[0] == 70005 && host[COUNT - 1] == 70005, "%d", host[0]);
    MUST(cuMemsetD16_v2(memory, 0x0102, COUNT));
    MUST(cuMemcpyDtoH_v2(host, memory, sizeof host));
    CHECK(host[0] == 0x01020102 && host[COUNT / 2] == 70005, "%x", (unsigned)host[0]);
    CHECK(cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL) ==
              cudaErrorInvalidResourceHandle,
          "no kernel");
    MUST(cuModuleUnload(module));
    MUST(cuEventDestroy_v2(begin));
    MUST(cuEventDestroy_v2(end));
    MUST(cuStreamDestroy_v2(stream));
    MUST(cuMemFree_v2(memory));
}

int main(void) {
    handle context = test_context(), popped = NULL, found = NULL;
    const char *text = NULL;
    test_kernel();
    MUST(cuCtxPopCurrent_v2(&popped));
    CHECK(popped == context, "another context");
    MUST(cuGetErrorString(2, &text));
    CHECK(text && !strcmp(text, "out of memory"), "%s", text);
    MUST(cuGetProcAddress("cuMemsetD32", &found, 13000, 0));
    CHECK(found && cuGetProcAddress("cuNonsense", &found, 13000, 0) == NOT_FOUND, "found");
    printf("%d failures\n", failures);
    return failures != 0;
}
