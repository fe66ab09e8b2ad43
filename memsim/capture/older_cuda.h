// Included before a program that uses what CUDA 13 removed, in place of cuda_runtime.h: the names that programs for
// CUDA 12 and before use, on CUDA 13's functions. Sources: CUDA 12.9 and 13.0 runtime API.
#pragma once
#include "driver_types.h"  // with the removed members of cudaDeviceProp
#include_next <cuda_runtime.h>

#ifdef __cplusplus
inline cudaError_t memsim_properties(cudaDeviceProp* properties, int device) {
  cudaError_t status = cudaGetDeviceProperties(properties, device);
  const struct { int* member; int attribute; } removed[] = {
      {&properties->clockRate, 13}, {&properties->deviceOverlap, 15}, {&properties->kernelExecTimeoutEnabled, 17},
      {&properties->computeMode, 20}, {&properties->memoryClockRate, 36}, {&properties->maxTexture1DLinear, 69},
      {&properties->singleToDoublePrecisionPerfRatio, 87}, {&properties->cooperativeMultiDeviceLaunch, 96}};
  for (const auto& one : removed)
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(one.member, cudaDeviceAttr(one.attribute), device);
  return status;
}
#define cudaGetDeviceProperties(properties, device) memsim_properties(properties, device)
#define cudaGetDeviceProperties_v2(properties, device) memsim_properties(properties, device)

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

inline cudaMemLocation memsim_location(int device) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
inline cudaError_t cudaMemPrefetchAsync(const void* start, size_t bytes, int device, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(start, bytes, memsim_location(device), 0u, stream);
}
inline cudaError_t cudaMemAdvise(const void* start, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(start, bytes, advice, memsim_location(device));
}
#endif
