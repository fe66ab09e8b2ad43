// Numbers of eight bits (CUDA Math API, "FP8 Intrinsics"; P. Micikevicius et al., "FP8 formats for deep learning", 2022):
// E4M3 has no infinities and one NaN, E5M2 is as IEEE 754 would have it. Conversions round to the nearest, ties to even,
// and saturate, as those of the classes do.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace memsim_probe {

// The value of 8 bits whose mantissa has so many: the exponent's bias is half its range.
inline __host__ __device__ float fp8_value(unsigned bits, int mantissa_bits) {
    int exponent = (bits & 0x7F) >> mantissa_bits, bias = mantissa_bits == 3 ? 7 : 15;
    int mantissa = bits & ((1 << mantissa_bits) - 1);
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (mantissa_bits == 3 && (bits & 0x7F) == 0x7F) return NAN;
    if (mantissa_bits == 2 && exponent == 31) return mantissa ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexpf(float(mantissa), 1 - bias - mantissa_bits);
    return sign * ldexpf(float((1 << mantissa_bits) + mantissa), exponent - bias - mantissa_bits);
}
inline __host__ __device__ unsigned char fp8_bits(float value, int mantissa_bits, bool saturate) {
    unsigned sign = signbit(value) ? 0x80 : 0, most = mantissa_bits == 3 ? 0x7E : 0x7B;
    if (isnan(value)) return sign | 0x7F;
    float size = fabsf(value);
    if (size == 0) return sign;
    int bias = mantissa_bits == 3 ? 7 : 15, exponent = 0;
    frexpf(size, &exponent);
    int unit = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - mantissa_bits;
    // The place among all non-negative numbers, which are in the order of their bits.
    float steps = isinf(size) ? 1e30f : rintf(ldexpf(size, -unit));
    float place = steps + ldexpf(float(unit + mantissa_bits + bias - 1), mantissa_bits);
    if (place > float(most)) return sign | (saturate ? most : mantissa_bits == 3 ? 0x7Fu : 0x7Cu);
    return sign | static_cast<unsigned>(place);
}

}  // namespace memsim_probe

#define MEMSIM_FP8(type, mantissa_bits)                                                                                \
    struct type {                                                                                                      \
        __nv_fp8_storage_t __x;                                                                                        \
        type() = default;                                                                                              \
        explicit __host__ __device__ type(float x) : __x(memsim_probe::fp8_bits(x, mantissa_bits, true)) {}            \
        explicit __host__ __device__ type(double x) : type(float(x)) {}                                                \
        explicit __host__ __device__ type(int x) : type(float(x)) {}                                                   \
        explicit __host__ __device__ type(__half x) : type(float(x)) {}                                                \
        explicit __host__ __device__ type(__nv_bfloat16 x) : type(float(x)) {}                                         \
        explicit __host__ __device__ operator float() const { return memsim_probe::fp8_value(__x, mantissa_bits); }    \
        explicit __host__ __device__ operator __half() const { return __half(float(*this)); }                          \
        explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }            \
        explicit __host__ __device__ operator double() const { return float(*this); }                                  \
    };
MEMSIM_FP8(__nv_fp8_e4m3, 3)
MEMSIM_FP8(__nv_fp8_e5m2, 2)
#undef MEMSIM_FP8

MEMSIM_CUDA __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
    return memsim_probe::fp8_bits(x, kind == __NV_E4M3 ? 3 : 2, saturate == __NV_SATFINITE);
}
MEMSIM_CUDA __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half(memsim_probe::fp8_value(x, kind == __NV_E4M3 ? 3 : 2));
}

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
