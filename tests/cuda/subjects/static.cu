/* SPDX-License-Identifier: MIT
 *
 * Compiled by nvcc with its default, a statically linked runtime. Prints what each call returned.
 */
#include <cstdio>

__global__ void twice(float *values) {
    values[threadIdx.x] *= 2;
}

static int tell(const char *what, cudaError_t error) {
    std::printf("%s: %s\n", what, cudaGetErrorName(error));
    return error != cudaSuccess;
}

int main() {
    int count = 0;
    float *device = nullptr, host[32] = {};
    int failures = tell("count", cudaGetDeviceCount(&count));
    failures += tell("allocate", cudaMalloc(&device, sizeof host));
    failures += tell("up", cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(device);
    failures += tell("launch", cudaGetLastError());
    failures += tell("down", cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    return failures;
}
