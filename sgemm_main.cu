
#include <cuda_runtime.h>
#include <cstdlib>
#include "kernels.cuh"
int main(int, char **argv) {
  const int kernel = atoi(argv[1]), k = atoi(argv[2]), n = 4096;
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(float) * n * k);
  cudaMalloc(&b, sizeof(float) * k * n);
  cudaMalloc(&c, sizeof(float) * n * n);
  const dim3 small(128, 128), middle(64, 64), large(32, 32);
  const float x = 0.5f, y = 3.0f;
  if (kernel == 1) sgemm_naive<<<small, dim3(32, 32)>>>(n, n, k, x, a, b, y, c);
  if (kernel == 2) sgemm_global_mem_coalesce<32><<<small, 1024>>>(n, n, k, x, a, b, y, c);
  if (kernel == 3) sgemm_shared_mem_block<32><<<small, 1024>>>(n, n, k, x, a, b, y, c);
  if (kernel == 4) sgemm1DBlocktiling<64, 64, 8, 8><<<middle, 512>>>(n, n, k, x, a, b, y, c);
  if (kernel == 5) sgemm2DBlocktiling<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 6) sgemmVectorize<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 7) sgemmResolveBankConflicts<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 8) sgemmResolveBankExtraCol<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 9) sgemmAutotuned<128, 128, 16, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 10) sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128><<<large, 128>>>(n, n, k, x, a, b, y, c);
  return cudaDeviceSynchronize();
}
