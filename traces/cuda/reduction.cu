// Sum of a vector: in every block a tree in shared memory, sequential addressing (Harris, NVIDIA 2007, kernel 4).
// What traces/reduction.py describes: ./reduction [n [threads a block]], threads a power of two
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void block_sums(const float* x, float* sums, int n) {
    extern __shared__ float partial[];
    int i = blockIdx.x * (2 * blockDim.x) + threadIdx.x, tid = threadIdx.x;
    float mine = 0;
    if (i < n)
        mine += x[i];
    if (i + blockDim.x < n)
        mine += x[i + blockDim.x];
    partial[tid] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (tid < half)
            partial[tid] = partial[tid] + partial[tid + half];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = partial[0];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    int block = argc > 2 ? atoi(argv[2]) : 256;
    int blocks = (n + 2 * block - 1) / (2 * block);

    std::vector<float> host_x(n), host_sums(blocks);
    for (int i = 0; i < n; ++i)
        host_x[i] = i % 17 * 0.25f;
    float *x, *sums;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMemcpy(x, host_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    block_sums<<<blocks, block, block * sizeof(float)>>>(x, sums, n);
    cudaMemcpy(host_sums.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);

    for (int b = 0; b < blocks; ++b) {
        double expected = 0;
        for (int i = 2 * b * block; i < n && i < 2 * (b + 1) * block; ++i)
            expected += host_x[i];
        if (std::fabs(host_sums[b] - expected) > 1e-3) {
            printf("FAILED: sums[%d] is %f, not %f\n", b, host_sums[b], expected);
            return 1;
        }
    }
    printf("PASSED: %d numbers, %d sums\n", n, blocks);
    cudaFree(x);
    cudaFree(sums);
    return 0;
}
