// A half-precision product of n x n matrices with tensor cores: 128 x 128 tiles of C, steps of 32: ./hgemm [n]
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
constexpr int M = 128, N = 128, K = 32;
__global__ void __launch_bounds__(256) hgemm(const half* a, const half* b, float* c, int n) {
    __shared__ half as[M][K + 8], bs[K][N + 8];
    int warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][4];
    for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) wmma::fill_fragment(acc[i][j], 0.0f);
    const half* at = a + (size_t)blockIdx.y * M * n;
    const half* bt = b + blockIdx.x * N;
    for (int k = 0; k < n; k += K) {
        for (int i = threadIdx.x; i < M * K / 8; i += 256)
            *(float4*)&as[i / (K / 8)][i % (K / 8) * 8] = *(const float4*)&at[(size_t)(i / (K / 8)) * n + k + i % (K / 8) * 8];
        for (int i = threadIdx.x; i < K * N / 8; i += 256)
            *(float4*)&bs[i / (N / 8)][i % (N / 8) * 8] = *(const float4*)&bt[(size_t)(k + i / (N / 8)) * n + i % (N / 8) * 8];
        __syncthreads();
        for (int s = 0; s < K; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[4];
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], &as[wm + 16 * i][s], K + 8);
            for (int j = 0; j < 4; j++) wmma::load_matrix_sync(fb[j], &bs[s][wn + 16 * j], N + 8);
            for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }
    float* ct = c + (size_t)(blockIdx.y * M + wm) * n + blockIdx.x * N + wn;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(ct + (size_t)i * 16 * n + j * 16, acc[i][j], n, wmma::mem_row_major);
}
int main(int argc, char** argv) {
    size_t n = argc > 1 ? atoi(argv[1]) : 16384;
    half *a, *b; float* c;
    if (cudaMalloc(&a, n * n * 2) || cudaMalloc(&b, n * n * 2) || cudaMalloc(&c, n * n * 4)) return 1;
    hgemm<<<dim3(n / N, n / M), 256>>>(a, b, c, n);
    return cudaDeviceSynchronize();
}
