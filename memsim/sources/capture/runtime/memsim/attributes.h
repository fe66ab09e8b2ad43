// CUDA's declaration specifiers: attributes where clang parses CUDA, mostly nothing where a host compiler builds.
#pragma once

#if defined(__clang__) && defined(__CUDA__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __global__
#define __device__
#define __host__
#define __shared__ static  // one block runs at a time
#define __constant__
#define __managed__
#define __launch_bounds__(...)
// __noinline__ is not defined here: libstdc++ writes __attribute__((__noinline__)). The front end rewrites it.
#endif

#if defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__ 1
#endif
#if defined(__CUDACC__) && !defined(__NVCC__)
#define __NVCC__ 1
#endif
#if defined(__CUDACC__) && !defined(__CUDA_ARCH__)
#define __CUDA_ARCH__ 800
#endif
// By which the samples' headers know what was included.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define CUDART_VERSION 12000

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif

#define __forceinline__ inline  // always_inline would forbid recursion
#define __inline_hint__
#define __grid_constant__
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define __nv_pure__
#define __align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

// How these headers declare what both host and device code may call.
#define MEMSIM_CUDA static inline __host__ __device__ __attribute__((unused))
#define MEMSIM_CUDA_TEMPLATE inline __host__ __device__
#define MEMSIM_CUDA_VARIABLE inline __device__
#define MEMSIM_INLINE inline __attribute__((always_inline))
