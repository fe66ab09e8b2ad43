// y = a x + y, one element a thread: a program that does little but access memory. ./saxpy BLOCKS
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 1000, n = 256 * blocks;
    std::vector<float> host(n, 1.0f);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<blocks, 256>>>(n, 2.0f, x, y);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    for (float value : host)
        if (value != 3.0f)
            return 1;
    return 0;
}
