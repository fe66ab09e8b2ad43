// Half precision (CUDA Math API, "Half Precision Intrinsics"): stored in 16 bits, computed in float.
#pragma once

#include "cuda_runtime.h"
#include "memsim/intrinsics.h"
#include "memsim/small_floats.h"
#include "memsim/small_rounding.h"
#include "memsim/small_special.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace memsim_probe {

// IEEE 754 binary16, rounded to nearest even.
inline unsigned short half_bits(float value) {
    unsigned x = __float_as_uint(value), sign = x >> 16 & 0x8000;
    x &= 0x7FFFFFFF;
    if (x > 0x7F800000) return sign | 0x7FFF;
    if (x >= 0x477FF000) return sign | 0x7C00;
    if (x < 0x38800000) return sign | static_cast<unsigned>(__float_as_uint(__uint_as_float(x) + 0.5f) - 0x3F000000);
    return sign | (x - 0x38000000 + 0xFFF + (x >> 13 & 1)) >> 13;
}
inline float half_value(unsigned short bits) {
    unsigned magnitude = bits & 0x7FFF, sign = (bits & 0x8000u) << 16;
    float value = magnitude >= 0x7C00 ? __uint_as_float(0x7F800000 | (magnitude & 0x3FF) << 13)
                                      : __uint_as_float(magnitude << 13) * 0x1p112f;
    return __uint_as_float(__float_as_uint(value) | sign);
}

}  // namespace memsim_probe

struct __half_raw {
    unsigned short x;
};
struct __half {
    unsigned short bits;
    __half() = default;
    __host__ __device__ __half(float value) : bits(memsim_probe::half_bits(value)) {}
    __host__ __device__ __half(double value) : __half(static_cast<float>(value)) {}
    __host__ __device__ __half(int value) : __half(static_cast<float>(value)) {}
    __host__ __device__ __half(unsigned value) : __half(static_cast<float>(value)) {}
    __host__ __device__ __half(__half_raw raw) : bits(raw.x) {}
    __host__ __device__ operator float() const { return memsim_probe::half_value(bits); }
    __host__ __device__ operator __half_raw() const { return {bits}; }
};
typedef __half half;
typedef __half nv_half;
struct __half2_raw {
    unsigned short x, y;
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    __host__ __device__ __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;
typedef __half2 nv_half2;

MEMSIM_SMALL_FLOAT(__half, __half2)
MEMSIM_SMALL_CONVERSIONS(__half, __half2, half)

MEMSIM_SMALL_SPECIAL(__half, __half2, half)
MEMSIM_SMALL_ROUNDING(__half, half)

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
