// Registration, symbols, launches and their refusals.
#include <cstring>

#include "check.h"

__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__managed__ int shared_number = 5;

extern "C" __global__ void add(int* data, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by + factors[i & 3] * 0 + counter * 0 + shared_number * 0;
}
extern "C" __global__ void blocks(int* out) { *out = gridDim.x * gridDim.y * gridDim.z; }
extern "C" __global__ void __launch_bounds__(128) bounded(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += by;
}
extern "C" __global__ void hello() { printf("hello from the device\n"); }

struct Wide {
  char bytes[3];
  double number;
};
extern "C" __global__ void nothing(char a, Wide wide, short b) {}

static void launch() {
  int host[100];
  for (int i = 0; i < 100; ++i) host[i] = i;
  int* data;
  OK(cudaMalloc(&data, sizeof host));
  EXPECT(reinterpret_cast<size_t>(data) % 512 == 0);
  OK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
  add<<<4, 32>>>(data, 100, 10);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) EXPECT(host[i] == i + 10);
  void* arguments[] = {&data};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(blocks), dim3(5), dim3(64), arguments, 0, nullptr));
  OK(cudaMemcpy(host, data, 4, cudaMemcpyDefault));
  EXPECT(host[0] == 5);
  OK(cudaFree(data));
}

static void launch_with_attributes() {
  int* out;
  OK(cudaMalloc(&out, 4));
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, blocks, out));
  config.gridDim = dim3(7);  // no multiple of the cluster
  FAILS(cudaLaunchKernelEx(&config, blocks, out), cudaErrorInvalidClusterSize);
  OK(cudaFree(out));
  cudaGetLastError();
}

// What CUDA refuses (CUDA Runtime API, cudaLaunchKernel; CUDA C++ Programming Guide, "Compute Capabilities").
static void refusals() {
  int* data;
  OK(cudaMalloc(&data, 4096));
  add<<<1, 1025>>>(data, 1, 1);
  FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  OK(cudaGetLastError());  // reading the error clears it
  add<<<0, 32>>>(data, 1, 1);
  FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add<<<dim3(1, 65536), 32>>>(data, 1, 1);
  FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add<<<1, dim3(1, 1, 65)>>>(data, 1, 1);
  FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add<<<1, 32, 49152>>>(data, 1, 1);  // with the static shared memory over 48 KiB
  FAILS(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  add<<<1, 32, 100000>>>(data, 1, 1);
  OK(cudaGetLastError());
  FAILS(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
  bounded<<<1, 256>>>(data, 1, 1);
  FAILS(cudaGetLastError(), cudaErrorInvalidValue);
  void* arguments[] = {&data};
  FAILS(cudaLaunchKernel(reinterpret_cast<void*>(refusals), 1, 1, arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  FAILS(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(blocks), dim3(100000), dim3(1024), arguments, 0, nullptr),
        cudaErrorCooperativeLaunchTooLarge);
  OK(cudaFree(data));
  cudaGetLastError();
}

static void symbols() {
  int host[4] = {};
  OK(cudaMemcpyFromSymbol(host, factors, sizeof host));
  EXPECT(host[0] == 1 && host[3] == 4);
  int replaced[2] = {8, 9};
  OK(cudaMemcpyToSymbol(factors, replaced, sizeof replaced, 4));
  OK(cudaMemcpyFromSymbol(host, factors, sizeof host));
  EXPECT(host[0] == 1 && host[1] == 8 && host[2] == 9 && host[3] == 4);
  FAILS(cudaMemcpyToSymbol(factors, replaced, sizeof replaced, 12), cudaErrorInvalidValue);
  FAILS(cudaMemcpyToSymbol(host, replaced, 4), cudaErrorInvalidSymbol);
  size_t bytes = 0;
  OK(cudaGetSymbolSize(&bytes, factors));
  EXPECT(bytes == 16);
  int* inside;
  OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&inside), counter));
  int value = 0;
  OK(cudaMemcpy(&value, inside, 4, cudaMemcpyDeviceToHost));
  EXPECT(value == 7);
  EXPECT(shared_number == 5);
  shared_number = 6;
  add<<<1, 32>>>(&shared_number, 1, 4);
  OK(cudaDeviceSynchronize());
  EXPECT(shared_number == 10);
  cudaGetLastError();
}

static void attributes() {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock == 128 && attributes.numRegs == 32 && attributes.sharedSizeBytes == 256);
  int blocks_per_sm = 0, grid = 0, block = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, add, 1024, 0));
  EXPECT(blocks_per_sm == 2);  // 2048 threads of an SM
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, add, 32, 0));
  EXPECT(blocks_per_sm == 32);  // blocks of an SM
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
  EXPECT(grid * block == 100 * 2048);
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, reinterpret_cast<void*>(add)));
  EXPECT(name && !strcmp(name, "add"));
  size_t offset = 0, bytes = 0;
  OK(cudaFuncGetParamInfo(reinterpret_cast<void*>(nothing), 1, &offset, &bytes));
  EXPECT(offset == 8 && bytes == sizeof(Wide));
  nothing<<<1, 1>>>('a', Wide{}, 2);
  OK(cudaGetLastError());
}

int main() {
  launch();
  launch_with_attributes();
  refusals();
  symbols();
  attributes();
  hello<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  return failures;
}
