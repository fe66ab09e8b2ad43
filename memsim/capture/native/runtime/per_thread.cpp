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
OWN_STREAM(cudaLaunchHostFunc, (StreamHandle s, HostFunction f, void* data), (per_thread(s), f, data))
OWN_STREAM(cudaStreamAddCallback, (StreamHandle s, StreamCallback f, void* data, unsigned flags),
           (per_thread(s), f, data, flags))
OWN_STREAM(cudaGraphLaunch, (GraphExec * exec, StreamHandle s), (exec, per_thread(s)))
OWN_STREAM(cudaGraphUpload, (GraphExec * exec, StreamHandle s), (exec, per_thread(s)))
OWN_STREAM(cudaGraphInstantiateWithParams, (GraphExec * *exec, Graph* graph, InstantiateParams* params),
           (exec, graph, params))

MEMSIM_CUDA Error cudaLaunchKernelExC(const LaunchConfig*, const void*, void**);
MEMSIM_CUDA Error cudaLaunchKernelExC_ptsz(const LaunchConfig* config, const void* symbol, void** arguments) {
  if (!config) return cudaLaunchKernelExC(config, symbol, arguments);
  LaunchConfig own = *config;
  own.stream = per_thread(own.stream);
  return cudaLaunchKernelExC(&own, symbol, arguments);
}

// -- streams and events

OWN_STREAM(cudaStreamSynchronize, (StreamHandle s), (per_thread(s)))
OWN_STREAM(cudaStreamQuery, (StreamHandle s), (per_thread(s)))
OWN_STREAM(cudaStreamGetPriority, (StreamHandle s, int* priority), (per_thread(s), priority))
OWN_STREAM(cudaStreamGetFlags, (StreamHandle s, unsigned* flags), (per_thread(s), flags))
OWN_STREAM(cudaStreamGetId, (StreamHandle s, unsigned long long* id), (per_thread(s), id))
OWN_STREAM(cudaStreamGetDevice, (StreamHandle s, int* device), (per_thread(s), device))
OWN_STREAM(cudaStreamWaitEvent, (StreamHandle s, Event* event, unsigned flags), (per_thread(s), event, flags))
OWN_STREAM(cudaStreamAttachMemAsync, (StreamHandle s, void* p, size_t n, unsigned flags), (per_thread(s), p, n, flags))
OWN_STREAM(cudaStreamSetAttribute, (StreamHandle s, int id, const AttributeValue* value), (per_thread(s), id, value))
OWN_STREAM(cudaStreamGetAttribute, (StreamHandle s, int id, AttributeValue* value), (per_thread(s), id, value))
OWN_STREAM(cudaStreamCopyAttributes, (StreamHandle to, StreamHandle from), (per_thread(to), per_thread(from)))
OWN_STREAM(cudaEventRecord, (Event * event, StreamHandle s), (event, per_thread(s)))
OWN_STREAM(cudaEventRecordWithFlags, (Event * event, StreamHandle s, unsigned flags), (event, per_thread(s), flags))
OWN_STREAM(cudaStreamBeginCapture, (StreamHandle s, int mode), (per_thread(s), mode))
OWN_STREAM(cudaStreamBeginCaptureToGraph,
           (StreamHandle s, Graph* graph, GraphNode* const* from, const EdgeData* data, size_t n, int mode),
           (per_thread(s), graph, from, data, n, mode))
OWN_STREAM(cudaStreamEndCapture, (StreamHandle s, Graph** graph), (per_thread(s), graph))
OWN_STREAM(cudaStreamIsCapturing, (StreamHandle s, int* capturing), (per_thread(s), capturing))

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
