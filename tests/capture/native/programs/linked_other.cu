#include "check.h"

__device__ int bias = 4;
__device__ int twice(int x) { return 2 * x; }
extern "C" __global__ void bounded(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += by;
}

void launch_other(int* data) {
  int number = 0;
  OK(cudaMemcpyFromSymbol(&number, bias, 4));
  EXPECT(number == 4);
  bounded<<<1, 1>>>(data, 1, 100);
  OK(cudaGetLastError());
}
