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

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t n) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, n);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, size_t n) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, n);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* n) {
  return cudaGraphGetEdges(graph, from, to, nullptr, n);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* found, size_t* n) {
  return cudaGraphNodeGetDependencies(node, found, nullptr, n);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* found, size_t* n) {
  return cudaGraphNodeGetDependentNodes(node, found, nullptr, n);
}

#ifdef MEMSIM_OLDER_CCCL  // what CCCL 3.0 removed from CUB and Thrust (its migration guide names the replacements)
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>
#include <cuda/functional>
#include <cuda/std/functional>

namespace cub {
using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;
using Min = ::cuda::minimum<>;
using Max = ::cuda::maximum<>;
template <class Value, class = std::ptrdiff_t>
using ConstantInputIterator = ::thrust::constant_iterator<Value>;
template <class Value, class = std::ptrdiff_t>
using CountingInputIterator = ::thrust::counting_iterator<Value>;
template <class, class Function, class Iterator, class = std::ptrdiff_t>
using TransformInputIterator = ::thrust::transform_iterator<Function, Iterator>;
template <class = std::ptrdiff_t>
using DiscardOutputIterator = ::thrust::discard_iterator<>;
}  // namespace cub

namespace thrust {
template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};
}  // namespace thrust
#endif
#endif
