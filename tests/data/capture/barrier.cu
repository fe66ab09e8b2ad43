// A tile by asynchronous copies, turned round.
#include <cuda/barrier>
#include <cstdio>
__global__ void turn(const float *x, float *y) {
    __shared__ float tile[64];
    __shared__ cuda::barrier<cuda::thread_scope::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], cuda::aligned_size_t<4>(4), bar);
    bar.arrive_and_wait();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
    float *x, *y, host[64];
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, 256);
    cudaMalloc(&y, 256);
    cudaMemcpy(x, host, 256, cudaMemcpyHostToDevice);
    turn<<<1, 64>>>(x, y);
    cudaMemcpy(host, y, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++)
        if (host[i] != 63 - i) return 1;
}
