// bfloat16 (CUDA Math API, "Bfloat16 Precision Intrinsics"): the upper half of a float, computed with as a float.
#pragma once

#include "cuda_runtime.h"
#include "memsim/intrinsics.h"
#include "memsim/small_floats.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(float value) {
        unsigned x = __float_as_uint(value);
        bits = value != value ? 0x7FFF : (x + 0x7FFF + (x >> 16 & 1)) >> 16;  // to nearest even
    }
    __host__ __device__ __nv_bfloat16(double value) : __nv_bfloat16(static_cast<float>(value)) {}
    __host__ __device__ __nv_bfloat16(int value) : __nv_bfloat16(static_cast<float>(value)) {}
    __host__ __device__ __nv_bfloat16(unsigned value) : __nv_bfloat16(static_cast<float>(value)) {}
    __host__ __device__ __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    __host__ __device__ operator float() const { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
    __host__ __device__ operator __nv_bfloat16_raw() const { return {bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
typedef __nv_bfloat162 nv_bfloat162;

MEMSIM_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)

MEMSIM_CUDA __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
MEMSIM_CUDA __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
MEMSIM_CUDA __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
MEMSIM_CUDA float __bfloat162float(__nv_bfloat16 x) { return x; }
MEMSIM_CUDA unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
MEMSIM_CUDA __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16_raw{bits}; }
MEMSIM_CUDA __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
MEMSIM_CUDA __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
MEMSIM_CUDA __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
MEMSIM_CUDA float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
MEMSIM_CUDA __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
MEMSIM_CUDA __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
MEMSIM_CUDA __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
MEMSIM_CUDA __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
MEMSIM_CUDA __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
MEMSIM_CUDA float __low2float(__nv_bfloat162 v) { return v.x; }
MEMSIM_CUDA float __high2float(__nv_bfloat162 v) { return v.y; }

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
