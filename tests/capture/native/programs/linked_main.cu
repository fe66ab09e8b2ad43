// Relocatable device code: a kernel here calls a function and reads a variable of the other file.
#include "check.h"

extern __device__ int bias;
__device__ int twice(int x);

extern "C" __global__ void add(int* data, int n, int by) {
  if (threadIdx.x < n) data[threadIdx.x] += twice(by) + bias;
}
void launch_other(int* data);

int main() {
  int *data, host = 1;
  OK(cudaMalloc(&data, 4));
  OK(cudaMemcpy(data, &host, 4, cudaMemcpyHostToDevice));
  add<<<1, 1>>>(data, 1, 2);
  OK(cudaGetLastError());
  launch_other(data);
  OK(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost));
  EXPECT(host == 103);  // the fake server's `add` adds `by`, its `bounded` as well
  return failures;
}
