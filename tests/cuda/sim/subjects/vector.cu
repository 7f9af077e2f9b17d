// SPDX-License-Identifier: MIT
//
// An ordinary CUDA program, compiled by nvcc and run unmodified on the simulated device. Checks its
// own results; the CPU functions of its kernels are in vector_kernels.c.
#include <cstdio>

__device__ int offset_by[4];
__managed__ int calls;

__global__ void scale(float *values, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= factor;
    if (i == 0)
        calls++;
}

__global__ void shift(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] += offset_by[i % 4];
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int check_floats(int n) {
    float *device, *host;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float ms = 0;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaMalloc(&device, n * sizeof(float)));
    MUST(cudaMallocHost(&host, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    MUST(cudaEventRecord(begin, stream));
    MUST(cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    scale<<<(n + 255) / 256, 256, 0, stream>>>(device, n, 0.5f);
    MUST(cudaGetLastError());
    MUST(cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    MUST(cudaEventRecord(end, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    for (int i = 0; i < n; i++)
        if (host[i] != 0.5f * (float)i)
            return printf("float %d is %f\n", i, host[i]), 1;
    MUST(cudaFree(device));
    MUST(cudaFreeHost(host));
    MUST(cudaStreamDestroy(stream));
    return calls == 1 && ms > 0 ? 0 : (printf("calls %d, %f ms\n", calls, ms), 1);
}

static int check_integers(void) {
    int by[4] = {1, 2, 3, 4}, host[64], *device, back[4];
    for (int i = 0; i < 64; i++)
        host[i] = 10 * i;
    MUST(cudaMalloc(&device, sizeof host));
    MUST(cudaMemcpyToSymbol(offset_by, by, sizeof by));
    MUST(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    shift<<<dim3(2, 1, 1), dim3(32, 1, 1)>>>(device, 64);
    MUST(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpyFromSymbol(back, offset_by, sizeof back));
    for (int i = 0; i < 64; i++)
        if (host[i] != 10 * i + i % 4 + 1)
            return printf("integer %d is %d\n", i, host[i]), 1;
    return back[3] != 4;
}

int main() {
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int blocks = 0, version = 0;
    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(cudaFuncGetAttributes(&attributes, scale));
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    MUST(cudaRuntimeGetVersion(&version));
    printf("%s, %d multiprocessors, %d.%d, %zu MiB, %d copy engines, %d blocks\n", properties.name,
           properties.multiProcessorCount, properties.major, properties.minor,
           properties.totalGlobalMem >> 20, properties.asyncEngineCount, blocks);
    if (check_floats(1 << 20) || check_integers())
        return 1;
    MUST(cudaDeviceSynchronize());
    printf("right\n");
    return version == CUDART_VERSION ? 0 : 1;
}
