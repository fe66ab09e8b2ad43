// Matrix transpose: strided stores (naive), through shared memory (tiled), and without its bank conflicts (padded): the
// three steps of Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009).
// What traces/transpose.py describes: ./transpose [n [naive|tiled|padded]], n a multiple of 32
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

const int TILE = 32, ROWS = 8;  // a block moves a tile of 32 x 32 with 32 x 8 threads

__global__ void direct(const float* a, float* b, int n) {
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS)
        b[column * n + row + k] = a[(row + k) * n + column];
}

template <int PITCH>
__global__ void through_tile(const float* a, float* b, int n) {
    __shared__ float tile[TILE][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS)
        tile[y + k][x] = a[(blockIdx.y * TILE + y + k) * n + blockIdx.x * TILE + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k += ROWS)
        b[(blockIdx.x * TILE + y + k) * n + blockIdx.y * TILE + x] = tile[x][y + k];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    const char* variant = argc > 2 ? argv[2] : "naive";
    size_t bytes = sizeof(float) * n * n;

    std::vector<float> host_a(n * n), host_b(n * n);
    for (int i = 0; i < n * n; ++i)
        host_a[i] = i;
    float *a, *b;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, host_a.data(), bytes, cudaMemcpyHostToDevice);
    dim3 grid(n / TILE, n / TILE), block(TILE, ROWS);
    if (!strcmp(variant, "naive"))
        direct<<<grid, block>>>(a, b, n);
    else if (!strcmp(variant, "tiled"))
        through_tile<TILE><<<grid, block>>>(a, b, n);
    else
        through_tile<TILE + 1><<<grid, block>>>(a, b, n);
    cudaMemcpy(host_b.data(), b, bytes, cudaMemcpyDeviceToHost);

    for (int i = 0; i < n * n; ++i)
        if (host_b[i % n * n + i / n] != host_a[i]) {
            printf("FAILED: element %d\n", i);
            return 1;
        }
    printf("PASSED: %d x %d, %s\n", n, n, variant);
    cudaFree(a);
    cudaFree(b);
    return 0;
}
