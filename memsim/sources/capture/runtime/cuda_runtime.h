// CUDA C++ on the host: what nvcc includes before every file. See memsim/ for the parts.
#pragma once

#ifndef __cplusplus
#include "memsim/c_functions.h"
#else

#include "memsim/attributes.h"
#include "memsim/cccl.h"

#if defined(__clang__)
// Clang would not let kernels call what the host's C library declares, so its headers come first, without libstdc++'s
// wrappers: the C++ library stays the host's.
#pragma clang force_cuda_host_device begin
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <assert.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#pragma clang force_cuda_host_device end
#endif

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#if defined(__clang__)
inline __device__ void* operator new(size_t, void* place) noexcept { return place; }
inline __device__ void* operator new[](size_t, void* place) noexcept { return place; }
#pragma clang force_cuda_host_device begin
#endif

#include "memsim/device_api.h"
#include "memsim/graphs.h"
#include "memsim/kernels.h"
#include "memsim/launch_config.h"
#include "memsim/rare_structs.h"
#include "memsim/refused_api.h"
#include "memsim/streams.h"
#include "memsim/symbols.h"
#include "memsim/texture_references.h"

// As with nvcc, C++ files of the host see the API alone.
#if defined(__CUDACC__)
#include "memsim/asserts.h"
#include "memsim/atomics.h"
#include "memsim/dpx.h"
#include "memsim/indices.h"
#include "memsim/intrinsics.h"
#include "memsim/math.h"
#include "memsim/simd.h"
#include "memsim/special_functions.h"
#include "memsim/sync.h"
#include "memsim/warp.h"
#endif

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif

#if defined(__CUDACC__) && !defined(__clang__)
#include "memsim/c_functions.h"
#endif

#endif
