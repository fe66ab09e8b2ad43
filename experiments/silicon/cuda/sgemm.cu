// Host code for the ten kernels of siboehm/SGEMM_CUDA, with the tiles that its runner takes for products of 4096 x 4096:
// ./sgemm times|launches [INNER LENGTH [KERNEL]]; needs -I CHECKOUT/src. "times" prints CSV: medians of 10 runs, SM clock.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <vector>
#include "kernels.cuh"

__global__ void clocks(long long* out) {
    long long a, b, c = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(a));
    while (clock64() - c < 2000000) {}
    long long d = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b));
    out[0] = d - c, out[1] = b - a;
}
int main(int argc, char **argv) {
  const bool times = argc > 1 && !strcmp(argv[1], "times");
  const int k = argc > 2 ? atoi(argv[2]) : 4096, n = 4096, only = argc > 3 ? atoi(argv[3]) : 0;
  float *a, *b, *c;
  long long *stamps, host[2];
  cudaMalloc(&a, sizeof(float) * n * k);
  cudaMalloc(&b, sizeof(float) * k * n);
  cudaMalloc(&c, sizeof(float) * n * n);
  cudaMalloc(&stamps, 16);
  std::vector<float> data(size_t(n) * k);
  for (size_t i = 0; i < data.size(); ++i) data[i] = float((i * 2654435761u >> 8) % 2001) / 1000 - 1;
  cudaMemcpy(a, data.data(), data.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, data.data(), data.size() * 4, cudaMemcpyHostToDevice);
  cudaMemset(c, 0, sizeof(float) * n * n);
  const dim3 small(128, 128), middle(64, 64), large(32, 32);
  const float x = 0.5f, y = 3.0f;
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  if (times) printf("kernel,ms_median,ms_least,mhz\n");
  for (int kernel = 1; kernel <= 10; ++kernel) {
    if (only && kernel != only)
      continue;
    std::vector<float> all;
    for (int repeat = 0; repeat < (times ? 13 : 1); ++repeat) {
      cudaEventRecord(from);
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
      cudaEventRecord(to);
      cudaEventSynchronize(to);
      float ms;
      cudaEventElapsedTime(&ms, from, to);
      if (repeat > 2) all.push_back(ms);
    }
    if (cudaGetLastError() != cudaSuccess) return 1;
    if (times) {
      clocks<<<1, 1>>>(stamps);
      cudaMemcpy(host, stamps, 16, cudaMemcpyDeviceToHost);
      std::sort(all.begin(), all.end());
      printf("%d,%.4f,%.4f,%.0f\n", kernel, all[all.size() / 2], all[0], 1e3 * host[0] / host[1]);
    }
  }
  return cudaDeviceSynchronize();
}
