// Faults are sticky: every later call reports them (CUDA Runtime API, cudaErrorIllegalAddress).
#include "check.h"

extern "C" __global__ void illegal(int* data) { *data = 1; }

int main() {
  int* data;
  OK(cudaMalloc(&data, 4));
  illegal<<<1, 1>>>(data);
  FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
  FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
  FAILS(cudaMalloc(&data, 4), cudaErrorIllegalAddress);
  FAILS(cudaMemset(data, 0, 4), cudaErrorIllegalAddress);
  return failures;
}
