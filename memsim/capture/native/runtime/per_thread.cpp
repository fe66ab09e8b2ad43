// Launches in the thread's own stream instead of stream 0 (CUDA Runtime API, "API synchronization behavior"); same.cpp
// and copies.cpp have the other functions that end in _ptsz.

#include "common.h"

using namespace memsim;
using namespace memsim::runtime;

#define OWN_STREAM(name, parameters, arguments) \
  MEMSIM_CUDA Error name parameters;            \
  MEMSIM_CUDA Error name##_ptsz parameters { return name arguments; }

OWN_STREAM(cudaLaunchKernel, (const void* f, Dim3 grid, Dim3 block, void** args, size_t shared, StreamHandle s),
           (f, grid, block, args, shared, per_thread(s)))
OWN_STREAM(__cudaLaunchKernel, (void* f, Dim3 grid, Dim3 block, void** args, size_t shared, StreamHandle s),
           (f, grid, block, args, shared, per_thread(s)))
OWN_STREAM(cudaLaunchCooperativeKernel,
           (const void* f, Dim3 grid, Dim3 block, void** args, size_t shared, StreamHandle s),
           (f, grid, block, args, shared, per_thread(s)))

MEMSIM_CUDA Error cudaLaunchKernelExC(const LaunchConfig*, const void*, void**);
MEMSIM_CUDA Error cudaLaunchKernelExC_ptsz(const LaunchConfig* config, const void* symbol, void** arguments) {
  if (!config) return cudaLaunchKernelExC(config, symbol, arguments);
  LaunchConfig own = *config;
  own.stream = per_thread(own.stream);
  return cudaLaunchKernelExC(&own, symbol, arguments);
}
