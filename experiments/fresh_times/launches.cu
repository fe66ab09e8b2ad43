// Launches kernels of the rows with the shapes of their authors' programs: launches KERNEL SIZE [BLOCK]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#if defined(REDUCE)
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
typedef void *cublasHandle_t, *cublasLtHandle_t;
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32 };
enum cublasMath_t { CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_DEFAULT_MATH };
static cublasStatus_t cublasCreate(void **) { return CUBLAS_STATUS_SUCCESS; }
static cublasStatus_t cublasLtCreate(void **) { return CUBLAS_STATUS_SUCCESS; }
static cublasStatus_t cublasSetMathMode(void *, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
#endif
#define main program_main
#if defined(REDUCE)
#include "reduce_sum.cu"
#elif defined(TRANSPOSE)
#include "kernel_baseline.cu"
#elif defined(GEMM_NAIVE)
#include "gemm_naive.cu"
#elif defined(GEMM_COALESCE)
#include "gemm_memory_coalesce.cu"
#elif defined(GEMM_BLOCKING)
#include "gemm_memory_blocking.cu"
#elif defined(GEMM_BLOCKTILING)
#include "gemm_memory_blocktiling.cu"
#else
#include "array_add/array_add_kernels.cuh"
#include "mat_mat_mul/mat_mat_mul_kernels.cuh"
#include "mat_vec_mul/mat_vec_mul_kernels.cuh"
#include "histogram/histogram_kernels.cuh"
#include "image_to_grayscale/img_to_gray_kernels.cuh"
#endif
#undef main

template <typename T> T *zeros(size_t n) {
  T *p;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}

int main(int argc, char **argv) {
  std::string kernel = argv[1];
  size_t n = atoll(argv[2]);
  int block = argc > 3 ? atoi(argv[3]) : 0;
#if defined(REDUCE)
  float *x = zeros<float>(n), *out = zeros<float>(1);
  reduce_sum(atoi(argv[1]), out, x, n, block);
#elif defined(TRANSPOSE)
  float *x = zeros<float>(n * n), *y = zeros<float>(n * n);
  dim3 threads(32, 8), blocks(n / 32, n / 32);
  TRANSPOSE<<<blocks, threads>>>(y, x);
#elif defined(GEMM_NAIVE) || defined(GEMM_COALESCE) || defined(GEMM_BLOCKING) || defined(GEMM_BLOCKTILING)
  float *a = zeros<float>(n * n), *b = zeros<float>(n * n), *c = zeros<float>(n * n);
  run_kernel(n, n, block, 0.5, a, b, 3.0, c);
#else
  typedef uint32_t T;
  if (kernel == "add" || kernel == "add_not") {
    float *a = zeros<float>(n * n), *b = zeros<float>(n * n), *c = zeros<float>(n * n);
    dim3 grid((n + 15) / 16, (n + 15) / 16), threads(16, 16);
    if (kernel == "add") array_add_coalesced<float><<<grid, threads>>>(a, b, c, n, n);
    else array_add_not_coalesced<float><<<grid, threads>>>(a, b, c, n, n);
  } else if (kernel == "matmul" || kernel == "matmul_tiles" || kernel == "matmul_rect") {
    int inner = block;
    T *a = zeros<T>(n * inner), *b = zeros<T>(n * inner), *c = zeros<T>(n * n);
    dim3 grid(n / 16, n / 16), threads(16, 16);
    if (kernel == "matmul") mat_mat_mul<T><<<grid, threads>>>(a, b, c, n, inner, inner, n);
    else if (kernel == "matmul_tiles")
      mat_mat_mul_tiles<T><<<grid, threads, 2 * 256 * sizeof(T)>>>(a, b, c, n, inner, inner, n);
    else
      mat_mat_mul_rec_tiles<T><<<dim3(n / 8, n / 16), threads, 3 * 256 * sizeof(T)>>>(a, b, c, n, inner, inner, n);
  } else if (kernel == "matvec" || kernel == "matvec_shared") {
    T *m = zeros<T>(n * n), *v = zeros<T>(n), *out = zeros<T>(n);
    int grid = (n + block - 1) / block;
    if (kernel == "matvec") mat_vec_mul<T><<<grid, block>>>(out, m, v, n, n);
    else mat_vec_mul_tiles<T><<<grid, block, block * sizeof(T)>>>(out, m, v, n, n);
  } else if (kernel == "histogram" || kernel == "histogram_shared") {
    unsigned *in = zeros<unsigned>(n), *bins = zeros<unsigned>(512);
    int grid = (n + 511) / 512;
    if (kernel == "histogram") simple_histogram<<<grid, 512>>>(in, bins, n, 512);
    else histogram_shared<<<grid, 512, 512 * sizeof(unsigned)>>>(in, bins, n, 512);
  } else if (kernel == "grayscale") {
    uint8_t *in = zeros<uint8_t>(3 * n * n), *out = zeros<uint8_t>(n * n);
    color_to_grayscale_conversion<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(in, out, n, n);
  } else return 1;
#endif
  return cudaDeviceSynchronize();
}
