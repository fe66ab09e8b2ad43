// Product of two square matrices: one element a thread, from global memory (naive) or through shared tiles (tiled),
// as in the CUDA C++ Programming Guide, section "Shared Memory".
// What traces/matmul.py describes: ./matmul [n [naive|tiled]], n a multiple of 16
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

const int TILE = 16;

__global__ void naive_product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float total = 0;
    for (int k = 0; k < n; ++k)
        total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}

__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float total = 0;
    for (int start = 0; start < n; start += TILE) {
        a_tile[y][x] = a[row * n + start + x];
        b_tile[y][x] = b[(start + y) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    c[row * n + column] = total;
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256;
    bool tiled = argc > 2 && !strcmp(argv[2], "tiled");
    size_t bytes = sizeof(float) * n * n;

    std::vector<float> host_a(n * n), host_b(n * n), host_c(n * n);
    for (int i = 0; i < n * n; ++i) {
        host_a[i] = i % 13 - 6;
        host_b[i] = i % 7 - 3;
    }
    float *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemcpy(a, host_a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host_b.data(), bytes, cudaMemcpyHostToDevice);
    dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    if (tiled)
        tiled_product<<<grid, block>>>(a, b, c, n);
    else
        naive_product<<<grid, block>>>(a, b, c, n);
    cudaMemcpy(host_c.data(), c, bytes, cudaMemcpyDeviceToHost);

    for (int at = 0; at < n * n; at += n / 16 * 3 + 1) {
        double expected = 0;
        for (int k = 0; k < n; ++k)
            expected += double(host_a[at / n * n + k]) * host_b[k * n + at % n];
        if (std::fabs(host_c[at] - expected) > 1e-3) {
            printf("FAILED: c[%d] is %f, not %f\n", at, host_c[at], expected);
            return 1;
        }
    }
    printf("PASSED: %d x %d, %s\n", n, n, tiled ? "tiled" : "naive");
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
