// Half precision (CUDA Math API, "Half Precision Intrinsics"): stored in 16 bits, computed in float.
#pragma once

#include "cuda_runtime.h"

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
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define MEMSIM_OPERATOR(op)                                                                                            \
    MEMSIM_CUDA __half operator op(__half a, __half b) { return __half(float(a) op float(b)); }                        \
    MEMSIM_CUDA __half& operator op##=(__half & a, __half b) { return a = a op b; }                                    \
    MEMSIM_CUDA __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; }                         \
    MEMSIM_CUDA __half2& operator op##=(__half2 & a, __half2 b) { return a = a op b; }
MEMSIM_OPERATOR(+)
MEMSIM_OPERATOR(-)
MEMSIM_OPERATOR(*)
MEMSIM_OPERATOR(/)
#undef MEMSIM_OPERATOR
MEMSIM_CUDA __half operator-(__half a) { return __half(-float(a)); }
#define MEMSIM_COMPARE(op)                                                                                             \
    MEMSIM_CUDA bool operator op(__half a, __half b) { return float(a) op float(b); }
MEMSIM_COMPARE(==)
MEMSIM_COMPARE(!=)
MEMSIM_COMPARE(<)
MEMSIM_COMPARE(>)
MEMSIM_COMPARE(<=)
MEMSIM_COMPARE(>=)
#undef MEMSIM_COMPARE

MEMSIM_CUDA __half __float2half(float x) { return __half(x); }
MEMSIM_CUDA __half __float2half_rn(float x) { return __half(x); }
MEMSIM_CUDA __half __double2half(double x) { return __half(x); }
MEMSIM_CUDA __half __int2half_rn(int x) { return __half(x); }
MEMSIM_CUDA float __half2float(__half x) { return x; }
MEMSIM_CUDA int __half2int_rn(__half x) { return __float2int_rn(x); }
MEMSIM_CUDA int __half2int_rz(__half x) { return __float2int_rz(x); }
MEMSIM_CUDA unsigned short __half_as_ushort(__half x) { return x.bits; }
MEMSIM_CUDA __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
MEMSIM_CUDA __half2 __float2half2_rn(float x) { return {x, x}; }
MEMSIM_CUDA __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
MEMSIM_CUDA __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
MEMSIM_CUDA float2 __half22float2(__half2 v) { return {v.x, v.y}; }
MEMSIM_CUDA __half2 __half2half2(__half x) { return {x, x}; }
MEMSIM_CUDA __half2 __halves2half2(__half x, __half y) { return {x, y}; }
MEMSIM_CUDA __half2 make_half2(__half x, __half y) { return {x, y}; }
MEMSIM_CUDA __half __low2half(__half2 v) { return v.x; }
MEMSIM_CUDA __half __high2half(__half2 v) { return v.y; }
MEMSIM_CUDA float __low2float(__half2 v) { return v.x; }
MEMSIM_CUDA float __high2float(__half2 v) { return v.y; }
#define MEMSIM_HALF(name, expression)                                                                                  \
    MEMSIM_CUDA __half name(__half a, __half b) { return expression; }                                                 \
    MEMSIM_CUDA __half2 name##2(__half2 v, __half2 w) { return {name(v.x, w.x), name(v.y, w.y)}; }
MEMSIM_HALF(__hadd, a + b)
MEMSIM_HALF(__hsub, a - b)
MEMSIM_HALF(__hmul, a* b)
MEMSIM_HALF(__hmin, a < b ? a : b)
MEMSIM_HALF(__hmax, a < b ? b : a)
#undef MEMSIM_HALF
MEMSIM_CUDA __half __hdiv(__half a, __half b) { return a / b; }
MEMSIM_CUDA __half2 __h2div(__half2 a, __half2 b) { return a / b; }
MEMSIM_CUDA __half __hneg(__half a) { return -a; }
MEMSIM_CUDA __half __habs(__half a) { return __half(fabsf(a)); }
MEMSIM_CUDA __half __hfma(__half a, __half b, __half c) { return __half(fmaf(a, b, c)); }
MEMSIM_CUDA __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
MEMSIM_CUDA bool __heq(__half a, __half b) { return a == b; }
MEMSIM_CUDA bool __hne(__half a, __half b) { return a != b; }
MEMSIM_CUDA bool __hlt(__half a, __half b) { return a < b; }
MEMSIM_CUDA bool __hle(__half a, __half b) { return a <= b; }
MEMSIM_CUDA bool __hgt(__half a, __half b) { return a > b; }
MEMSIM_CUDA bool __hge(__half a, __half b) { return a >= b; }
MEMSIM_CUDA bool __hisnan(__half a) { return isnan(float(a)); }
MEMSIM_CUDA __half hsqrt(__half a) { return __half(sqrtf(a)); }
MEMSIM_CUDA __half hrsqrt(__half a) { return __half(rsqrtf(a)); }
MEMSIM_CUDA __half hrcp(__half a) { return __half(1 / float(a)); }
MEMSIM_CUDA __half hexp(__half a) { return __half(expf(a)); }
MEMSIM_CUDA __half hlog(__half a) { return __half(logf(a)); }
MEMSIM_CUDA __half hsin(__half a) { return __half(sinf(a)); }
MEMSIM_CUDA __half hcos(__half a) { return __half(cosf(a)); }
MEMSIM_CUDA __half htanh(__half a) { return __half(tanhf(a)); }

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
