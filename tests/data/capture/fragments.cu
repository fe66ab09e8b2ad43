// Products by wmma of matrices stored either way, from global and from shared memory; exit code: how many are wrong.
#include <mma.h>
#include <cstdio>
#include <vector>
using namespace nvcuda;
constexpr int N = 32;
using Rows = wmma::row_major;
using Columns = wmma::col_major;

template <class A, class B, bool shared>
__global__ void multiply(const half *a, const half *b, float *c) {
    __shared__ half tile[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, A> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, B> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    constexpr bool a_turned = std::is_same<A, Columns>::value, b_turned = std::is_same<B, Columns>::value;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < N; k += 16) {
        const half *from = a_turned ? a + k * N + row : a + row * N + k;
        if (shared) {
            for (int i = threadIdx.x; i < 256; i += 32) tile[i] = from[i / 16 * N + i % 16];
            __syncthreads();
            wmma::load_matrix_sync(left, tile, 16);
            __syncthreads();
        } else wmma::load_matrix_sync(left, from, N);
        wmma::load_matrix_sync(right, b_turned ? b + column * N + k : b + k * N + column, N);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2;
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
}

template <class A, class B, bool shared>
int wrong(const std::vector<half> &a, const std::vector<half> &b) {
    half *da, *db;
    float *dc;
    cudaMalloc(&da, N * N * sizeof(half));
    cudaMalloc(&db, N * N * sizeof(half));
    cudaMalloc(&dc, N * N * sizeof(float));
    cudaMemcpy(da, a.data(), N * N * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), N * N * sizeof(half), cudaMemcpyHostToDevice);
    multiply<A, B, shared><<<dim3(N / 16, N / 16), 32>>>(da, db, dc);
    std::vector<float> c(N * N);
    cudaMemcpy(c.data(), dc, N * N * sizeof(float), cudaMemcpyDeviceToHost);
    int count = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += float(std::is_same<A, Rows>::value ? a[i * N + k] : a[k * N + i]) *
                       float(std::is_same<B, Rows>::value ? b[k * N + j] : b[j * N + k]);
            count += c[i * N + j] != 2 * sum;
        }
    return count;
}

int main() {
    std::vector<half> a(N * N), b(N * N);
    for (int i = 0; i < N * N; i++) a[i] = half(float(i * 7 % 13 - 6)), b[i] = half(float(i * 5 % 11 - 5));
    return wrong<Rows, Columns, false>(a, b) + wrong<Columns, Rows, false>(a, b) + wrong<Rows, Rows, true>(a, b) +
           wrong<Columns, Columns, true>(a, b);
}
