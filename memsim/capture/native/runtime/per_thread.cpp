// Functions with more parameters than registers hold, for the thread's own stream instead of stream 0; same.cpp has the
// others (CUDA Runtime API, "API synchronization behavior").

#include "common.h"

using namespace memsim;
using namespace memsim::runtime;

#define OWN_STREAM(name, parameters, arguments) \
  MEMSIM_CUDA Error name parameters;            \
  MEMSIM_CUDA Error name##_ptsz parameters { return name arguments; }

// -- launches

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

// -- memory

OWN_STREAM(cudaMemcpy2DAsync,
           (void* to, size_t to_pitch, const void* from, size_t pitch, size_t w, size_t h, int kind, StreamHandle s),
           (to, to_pitch, from, pitch, w, h, kind, per_thread(s)))
OWN_STREAM(cudaMemcpy2DToArrayAsync,
           (Array * to, size_t x, size_t y, const void* from, size_t pitch, size_t w, size_t h, int kind, StreamHandle s),
           (to, x, y, from, pitch, w, h, kind, per_thread(s)))
OWN_STREAM(cudaMemcpy2DFromArrayAsync,
           (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t w, size_t h, int kind, StreamHandle s),
           (to, pitch, from, x, y, w, h, kind, per_thread(s)))
OWN_STREAM(cudaMemcpyToArrayAsync, (Array * to, size_t x, size_t y, const void* from, size_t n, int kind, StreamHandle s),
           (to, x, y, from, n, kind, per_thread(s)))
OWN_STREAM(cudaMemcpyFromArrayAsync, (void* to, Array* from, size_t x, size_t y, size_t n, int kind, StreamHandle s),
           (to, from, x, y, n, kind, per_thread(s)))
OWN_STREAM(cudaMemset3DAsync, (PitchedPointer p, int value, CudaExtent extent, StreamHandle s),
           (p, value, extent, per_thread(s)))
