// SPDX-License-Identifier: MIT
//
// What CUDA programs call beside copies and launches: questions about devices and kernels, pitched
// and pooled memory, arrays and textures, callbacks, peers, the driver's functions. Compiled by nvcc
// and run unmodified on the simulated device, with two of them; it checks results and errors.
#include <cstdio>
#include <cstring>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error),                         \
                   cudaGetErrorString(error));                                                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: not %s\n", __LINE__, #condition);                                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static int failures;
__managed__ int counters[16];

__global__ void scale(float *values, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= factor;
}

__global__ void sample(cudaTextureObject_t texture, float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = tex2D<float>(texture, i + 0.5f, 0.5f);
}

// Both ways to ask have one answer.
static void about_limits(void) {
    cudaDeviceProp p;
    MUST(cudaGetDeviceProperties(&p, 0));
    const struct {
        cudaDeviceAttr which;
        long long value;
    } both[] = {{cudaDevAttrMaxPitch, (long long)p.memPitch},
                {cudaDevAttrMaxTexture1DWidth, p.maxTexture1D},
                {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
                {cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2]},
                {cudaDevAttrMaxTexture1DLayeredLayers, p.maxTexture1DLayered[1]},
                {cudaDevAttrMaxTexture2DLayeredLayers, p.maxTexture2DLayered[2]},
                {cudaDevAttrSurfaceAlignment, (long long)p.surfaceAlignment},
                {cudaDevAttrTexturePitchAlignment, (long long)p.texturePitchAlignment},
                {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
                {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
                {cudaDevAttrReservedSharedMemoryPerBlock, (long long)p.reservedSharedMemPerBlock},
                {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
                {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported}};
    for (auto &one : both) {
        int value = 0;
        MUST(cudaDeviceGetAttribute(&value, one.which, 0));
        if (!value || value != one.value)
            printf("attribute %d: %d, property %lld\n", one.which, value, one.value), failures++;
    }
}

static void about_devices(void) {
    cudaDeviceProp p;
    int value = 0, device = -1, count = 0;
    size_t limit = 0;
    char id[20];
    MUST(cudaGetDeviceCount(&count));
    CHECK(count == 2);
    MUST(cudaGetDeviceProperties(&p, 1));
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 1));
    CHECK(value == p.maxThreadsPerMultiProcessor && value == 1536); // an L4
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(value == 99 * 1024 && p.l2CacheSize == 48 << 20 && p.memoryBusWidth == 192);
    MUST(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    MUST(cudaDeviceGetByPCIBusId(&device, id));
    CHECK(device == 1 && cudaDeviceGetByPCIBusId(&device, "nonsense") == cudaErrorInvalidValue);
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 8 << 20);
    MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 16 << 20 && cudaDeviceGetLimit(&limit, (cudaLimit)77) == cudaErrorUnsupportedLimit);
    MUST(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK(value == 1 && cudaGetDeviceProperties(&p, 2) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
}

static void about_kernels(void) {
    int blocks = 0, grid = 0, block = 0;
    size_t shared = 0;
    cudaFunction_t function;
    cudaFuncAttributes attributes;
    MUST(cudaFuncGetAttributes(&attributes, scale));
    MUST(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    CHECK(blocks == 6);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 32 << 10));
    CHECK(blocks == 3);
    MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale));
    CHECK(grid >= 58 && block >= 256);
    MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, scale, 2, 256));
    CHECK(shared == 48 << 10);
    MUST(cudaGetFuncBySymbol(&function, (const void *)scale));
    CHECK(function);
}

static void launches(void) {
    float host[64], *device;
    int n = 64;
    float factor = 2;
    cudaStream_t stream;
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    MUST(cudaMalloc(&device, sizeof host));
    MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
    MUST(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
    void *args[] = {&device, &n, &factor};
    MUST(cudaLaunchCooperativeKernel((const void *)scale, dim3(1), dim3(64), args, 0, stream));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(64);
    config.stream = stream;
    MUST(cudaLaunchKernelEx(&config, scale, device, n, 3.0f));
    MUST(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    CHECK(host[7] == 42);
    scale<<<1, 2048>>>(device, n, 1.0f);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    unsigned long long id = 0;
    MUST(cudaStreamGetId(stream, &id));
    CHECK(id);
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(device));
}

static void called(void *data) {
    ++*(int *)data;
}

static void called_back(cudaStream_t, cudaError_t status, void *data) {
    *(int *)data += status == cudaSuccess ? 10 : 1000;
}

static void callbacks(void) {
    int calls = 0;
    float ms = -1;
    cudaEvent_t begin, end;
    MUST(cudaEventCreateWithFlags(&begin, cudaEventBlockingSync));
    MUST(cudaEventCreate(&end));
    CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
    MUST(cudaEventRecord(begin));
    MUST(cudaLaunchHostFunc(0, called, &calls));
    MUST(cudaStreamAddCallback(0, called_back, &calls, 0));
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    CHECK(calls == 11 && ms >= 0);
}

static void pitched(void) {
    char host[48][100], back[48][100];
    char *rows;
    size_t pitch;
    cudaPitchedPtr box;
    memset(host, 7, sizeof host);
    MUST(cudaMallocPitch(&rows, &pitch, 100, 48));
    CHECK(pitch >= 100 && pitch % 512 == 0);
    MUST(cudaMemset2D(rows, pitch, 9, 100, 48));
    MUST(cudaMemcpy2D(rows, pitch, host, 100, 50, 48, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2D(back, 100, rows, pitch, 100, 48, cudaMemcpyDeviceToHost));
    CHECK(back[47][49] == 7 && back[47][50] == 9);
    CHECK(cudaMemcpy2D(rows, 10, host, 100, 50, 48, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
    MUST(cudaMalloc3D(&box, make_cudaExtent(100, 8, 6)));
    MUST(cudaMemset3D(box, 3, make_cudaExtent(100, 4, 6)));
    cudaMemcpy3DParms p = {};
    p.srcPtr = box;
    p.dstPtr = make_cudaPitchedPtr(back, 100, 100, 8);
    p.extent = make_cudaExtent(100, 8, 6);
    p.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&p));
    CHECK(back[0][0] == 3 && back[3][99] == 3 && back[4][0] == 0 && back[43][99] == 3);
    cudaMemcpy3DPeerParms far = {};
    cudaPitchedPtr other;
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc3D(&other, make_cudaExtent(100, 8, 6)));
    MUST(cudaSetDevice(0));
    far.srcPtr = box;
    far.dstPtr = other;
    far.dstDevice = 1;
    far.extent = p.extent;
    MUST(cudaMemcpy3DPeer(&far));
    p.srcPtr = other;
    memset(back, 0, sizeof back);
    MUST(cudaMemcpy3D(&p));
    CHECK(back[3][99] == 3 && back[43][0] == 3);
}

static void pooled(void) {
    cudaMemPool_t pool, own;
    cudaMemPoolProps properties = {};
    unsigned long long bytes = 1, keep = ~0ull;
    void *memory, *more;
    MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    MUST(cudaMallocAsync(&memory, 1 << 20, 0));
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
    CHECK(bytes == 1 << 20);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    MUST(cudaMemPoolCreate(&own, &properties));
    MUST(cudaMallocFromPoolAsync(&more, 4096, own, 0));
    MUST(cudaMemsetAsync(more, 1, 4096));
    MUST(cudaFreeAsync(more, 0));
    MUST(cudaFreeAsync(memory, 0));
    MUST(cudaStreamSynchronize(0));
    MUST(cudaMemPoolTrimTo(pool, 0));
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
    CHECK(bytes == 0);
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
    CHECK(bytes == 1 << 20);
    MUST(cudaMemPoolDestroy(own));
}

static void addresses(void) {
    static char plain[8192];
    cudaPointerAttributes a;
    void *device, *managed, *same;
    size_t unused, total, less;
    MUST(cudaMemGetInfo(&unused, &total));
    MUST(cudaMalloc(&device, 1 << 20));
    MUST(cudaMemGetInfo(&less, &total));
    CHECK(unused - less == 1 << 20);
    MUST(cudaMallocManaged(&managed, 4096));
    MUST(cudaPointerGetAttributes(&a, plain));
    CHECK(a.type == cudaMemoryTypeUnregistered);
    MUST(cudaHostRegister(plain, sizeof plain, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(plain, sizeof plain, 0) == cudaErrorHostMemoryAlreadyRegistered);
    MUST(cudaPointerGetAttributes(&a, plain + 100));
    CHECK(a.type == cudaMemoryTypeHost);
    MUST(cudaHostGetDevicePointer(&same, plain, 0));
    MUST(cudaHostUnregister(plain));
    CHECK(cudaHostUnregister(plain) == cudaErrorHostMemoryNotRegistered);
    MUST(cudaPointerGetAttributes(&a, device));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == device);
    MUST(cudaPointerGetAttributes(&a, managed));
    CHECK(a.type == cudaMemoryTypeManaged);
    cudaMemLocation here = {cudaMemLocationTypeDevice, {0}};
    MUST(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, here));
    MUST(cudaMemPrefetchAsync(managed, 4096, here, 0, 0));
    MUST(cudaStreamAttachMemAsync(0, managed, 0, cudaMemAttachGlobal));
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(managed));
    CHECK(cudaMallocManaged(&managed, 0) == cudaErrorInvalidValue);
    MUST(cudaPointerGetAttributes(&a, counters));
    CHECK(a.type == cudaMemoryTypeManaged);
    counters[3] = 5;
    MUST(cudaMemset(counters, 0, 8));
    MUST(cudaMemcpy(&counters[1], &counters[3], sizeof counters[1], cudaMemcpyDefault));
    MUST(cudaMemPrefetchAsync(counters, sizeof counters, here, 0, 0));
    MUST(cudaDeviceSynchronize());
    CHECK(counters[1] == 5 && cudaFree(counters) == cudaErrorInvalidValue);
    MUST(cudaFree(device));
    CHECK(cudaFree(plain) == cudaErrorInvalidValue);
}

static void textures(void) {
    float host[4][32], back[4][32], *values;
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), same;
    cudaExtent extent;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    for (int i = 0; i < 128; i++)
        host[i / 32][i % 32] = (float)i;
    MUST(cudaMallocArray(&array, &format, 32, 4));
    MUST(cudaArrayGetInfo(&same, &extent, NULL, array));
    CHECK(same.x == 32 && same.f == cudaChannelFormatKindFloat && extent.width == 32);
    MUST(cudaMemcpy2DToArray(array, 0, 0, host, 128, 128, 4, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2DFromArray(back, 128, array, 4, 1, 64, 3, cudaMemcpyDeviceToHost));
    CHECK(back[0][0] == 33 && back[2][15] == 112);
    CHECK(cudaMemcpy2DToArray(array, 0, 3, host, 128, 128, 4, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    MUST(cudaMalloc(&values, 128));
    sample<<<1, 32>>>(texture, values, 32);
    MUST(cudaDeviceSynchronize());
    MUST(cudaDestroyTextureObject(texture));
    MUST(cudaFreeArray(array));
    MUST(cudaFree(values));
}

typedef int (*count_devices)(int *);

static void the_rest(void) {
    void *found = NULL, *memory;
    int count = 0, can = 0;
    cudaDriverEntryPointQueryResult status;
    cudaIpcMemHandle_t handle;
    MUST(cudaGetDriverEntryPoint("cuDeviceGetCount", &found, cudaEnableDefault, &status));
    CHECK(found && status == cudaDriverEntryPointSuccess && ((count_devices)found)(&count) == 0 &&
          count == 2);
    MUST(cudaGetDriverEntryPointByVersion("cuNonsense", &found, 13000, cudaEnableDefault, &status));
    CHECK(!found && status == cudaDriverEntryPointSymbolNotFound);
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    MUST(cudaMalloc(&memory, 64));
    CHECK(cudaIpcGetMemHandle(&handle, memory) == cudaErrorNotSupported);
    MUST(cudaFree(memory));
}

int main() {
    about_limits();
    about_devices();
    about_kernels();
    launches();
    callbacks();
    pitched();
    pooled();
    addresses();
    textures();
    the_rest();
    printf(failures ? "wrong\n" : "right\n");
    return failures != 0;
}
