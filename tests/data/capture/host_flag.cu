// A kernel waits for a flag that a thread of the host sets after the launch, and a later block for an earlier one's.
#include <atomic>
#include <cstdio>
#include <thread>

__global__ void wait_for_host(volatile int* flags, int* sums) {
  if (threadIdx.x == 0)
    while (atomicAdd((int*)&flags[blockIdx.x + 1], 0) == 0) {
    }
  __syncthreads();
  sums[blockIdx.x * blockDim.x + threadIdx.x] = flags[blockIdx.x + 1] + threadIdx.x;
  __threadfence();
  if (threadIdx.x == 0) atomicExch((int*)&flags[blockIdx.x], blockIdx.x + 1);
}

int main() {
  const int blocks = 4, threads = 64;
  int *flags, *sums;
  cudaMallocManaged(&flags, (blocks + 1) * sizeof(int));
  cudaMallocManaged(&sums, blocks * threads * sizeof(int));
  for (int i = 0; i <= blocks; ++i) flags[i] = 0;
  wait_for_host<<<blocks, threads>>>(flags, sums);
  std::thread setter([=] { reinterpret_cast<std::atomic<int>*>(flags + blocks)->store(7); });
  cudaError_t failed = cudaDeviceSynchronize();
  setter.join();
  bool right = !failed;
  for (int i = 0; i < blocks * threads; ++i)
    right = right && sums[i] == i % threads + (i / threads == blocks - 1 ? 7 : i / threads + 2);
  puts(right ? "right" : cudaGetErrorString(failed));
  return !right;
}
