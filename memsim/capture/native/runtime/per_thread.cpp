// What programs call that are compiled with --default-stream per-thread: _ptsz functions, for which stream 0 is the
// thread's own, and _ptds functions, which wait anyway, so that they differ in simulated time only (CUDA Runtime API,
// "API synchronization behavior").

#include "common.h"

using namespace memsim;
using namespace memsim::runtime;

#define OWN_STREAM(name, parameters, arguments) \
  MEMSIM_CUDA Error name parameters;            \
  MEMSIM_CUDA Error name##_ptsz parameters { return name arguments; }
#define WAITING(name, parameters, arguments) \
  MEMSIM_CUDA Error name parameters;         \
  MEMSIM_CUDA Error name##_ptds parameters { return name arguments; }

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

OWN_STREAM(cudaMallocAsync, (void** p, size_t n, StreamHandle s), (p, n, per_thread(s)))
OWN_STREAM(cudaMallocFromPoolAsync, (void** p, size_t n, Pool* pool, StreamHandle s), (p, n, pool, per_thread(s)))
OWN_STREAM(cudaFreeAsync, (void* p, StreamHandle s), (p, per_thread(s)))
OWN_STREAM(cudaMemcpyAsync, (void* to, const void* from, size_t n, int kind, StreamHandle s),
           (to, from, n, kind, per_thread(s)))
OWN_STREAM(cudaMemcpy2DAsync,
           (void* to, size_t to_pitch, const void* from, size_t pitch, size_t w, size_t h, int kind, StreamHandle s),
           (to, to_pitch, from, pitch, w, h, kind, per_thread(s)))
OWN_STREAM(cudaMemcpy3DAsync, (const Memcpy3D* given, StreamHandle s), (given, per_thread(s)))
OWN_STREAM(cudaMemcpy3DPeerAsync, (const Memcpy3DPeer* given, StreamHandle s), (given, per_thread(s)))
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
OWN_STREAM(cudaMemcpyToSymbolAsync,
           (const void* symbol, const void* from, size_t n, size_t offset, int kind, StreamHandle s),
           (symbol, from, n, offset, kind, per_thread(s)))
OWN_STREAM(cudaMemcpyFromSymbolAsync, (void* to, const void* symbol, size_t n, size_t offset, int kind, StreamHandle s),
           (to, symbol, n, offset, kind, per_thread(s)))
OWN_STREAM(cudaMemsetAsync, (void* p, int value, size_t n, StreamHandle s), (p, value, n, per_thread(s)))
OWN_STREAM(cudaMemset2DAsync, (void* p, size_t pitch, int value, size_t w, size_t h, StreamHandle s),
           (p, pitch, value, w, h, per_thread(s)))
OWN_STREAM(cudaMemset3DAsync, (PitchedPointer p, int value, CudaExtent extent, StreamHandle s),
           (p, value, extent, per_thread(s)))
OWN_STREAM(cudaGetDriverEntryPointByVersion,
           (const char* name, void** function, unsigned version, unsigned long long flags, int* found),
           (name, function, version, flags, found))

WAITING(cudaMemcpy, (void* to, const void* from, size_t n, int kind), (to, from, n, kind))
WAITING(cudaMemcpy2D, (void* to, size_t to_pitch, const void* from, size_t pitch, size_t w, size_t h, int kind),
        (to, to_pitch, from, pitch, w, h, kind))
WAITING(cudaMemcpy3D, (const Memcpy3D* given), (given))
WAITING(cudaMemcpy3DPeer, (const Memcpy3DPeer* given), (given))
WAITING(cudaMemcpy2DToArray,
        (Array * to, size_t x, size_t y, const void* from, size_t pitch, size_t w, size_t h, int kind),
        (to, x, y, from, pitch, w, h, kind))
WAITING(cudaMemcpy2DFromArray, (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t w, size_t h, int kind),
        (to, pitch, from, x, y, w, h, kind))
WAITING(cudaMemcpy2DArrayToArray,
        (Array * to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y, size_t w, size_t h, int kind),
        (to, to_x, to_y, from, x, y, w, h, kind))
WAITING(cudaMemcpyToArray, (Array * to, size_t x, size_t y, const void* from, size_t n, int kind),
        (to, x, y, from, n, kind))
WAITING(cudaMemcpyFromArray, (void* to, Array* from, size_t x, size_t y, size_t n, int kind), (to, from, x, y, n, kind))
WAITING(cudaMemcpyArrayToArray,
        (Array * to, size_t to_x, size_t to_y, Array* from, size_t x, size_t y, size_t n, int kind),
        (to, to_x, to_y, from, x, y, n, kind))
WAITING(cudaMemcpyToSymbol, (const void* symbol, const void* from, size_t n, size_t offset, int kind),
        (symbol, from, n, offset, kind))
WAITING(cudaMemcpyFromSymbol, (void* to, const void* symbol, size_t n, size_t offset, int kind),
        (to, symbol, n, offset, kind))
WAITING(cudaMemset, (void* p, int value, size_t n), (p, value, n))
WAITING(cudaMemset2D, (void* p, size_t pitch, int value, size_t w, size_t h), (p, pitch, value, w, h))
WAITING(cudaMemset3D, (PitchedPointer p, int value, CudaExtent extent), (p, value, extent))
