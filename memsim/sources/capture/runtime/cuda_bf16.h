// bfloat16 (CUDA Math API, "Bfloat16 Precision Intrinsics"): the upper half of a float, computed with as a float.
#pragma once

#include "cuda_runtime.h"
#include "memsim/intrinsics.h"
#include "memsim/small_floats.h"
#include "memsim/small_rounding.h"
#include "memsim/small_special.h"

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
struct __nv_bfloat162_raw {
    unsigned short x, y;
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(__nv_bfloat162_raw raw)
        : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    __host__ __device__ __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
typedef __nv_bfloat162 nv_bfloat162;

MEMSIM_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)
MEMSIM_SMALL_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
MEMSIM_SMALL_SPECIAL(__nv_bfloat16, __nv_bfloat162, bfloat16)
MEMSIM_SMALL_ROUNDING(__nv_bfloat16, bfloat16)

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
