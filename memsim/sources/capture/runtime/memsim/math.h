// CUDA's mathematical functions beyond those of <math.h> (CUDA Math API), in the global namespace as there. The fast
// single-precision intrinsics compute as the accurate functions do.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "attributes.h"

#ifndef CUDART_INF_F
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_SQRT_TWO_F 1.414213562f
#endif

// min and max: of two types as C's usual conversions have it.
#define MEMSIM_MIN_MAX(a_type, b_type, type)                                                                           \
    MEMSIM_CUDA type min(a_type a, b_type b) { return static_cast<type>(a) < static_cast<type>(b) ? a : b; }           \
    MEMSIM_CUDA type max(a_type a, b_type b) { return static_cast<type>(a) > static_cast<type>(b) ? a : b; }
#define MEMSIM_MIN_MAX_SIGNS(type)                                                                                     \
    MEMSIM_MIN_MAX(type, type, type)                                                                                   \
    MEMSIM_MIN_MAX(unsigned type, unsigned type, unsigned type)                                                        \
    MEMSIM_MIN_MAX(type, unsigned type, unsigned type)                                                                 \
    MEMSIM_MIN_MAX(unsigned type, type, unsigned type)
MEMSIM_MIN_MAX_SIGNS(int)
MEMSIM_MIN_MAX_SIGNS(long)
MEMSIM_MIN_MAX_SIGNS(long long)
#undef MEMSIM_MIN_MAX_SIGNS
#undef MEMSIM_MIN_MAX
#define MEMSIM_MIN_MAX(a_type, b_type, type, minimum, maximum)                                                         \
    MEMSIM_CUDA type min(a_type a, b_type b) { return minimum(a, b); }                                                 \
    MEMSIM_CUDA type max(a_type a, b_type b) { return maximum(a, b); }
MEMSIM_MIN_MAX(float, float, float, fminf, fmaxf)
MEMSIM_MIN_MAX(double, double, double, fmin, fmax)
MEMSIM_MIN_MAX(float, double, double, fmin, fmax)
MEMSIM_MIN_MAX(double, float, double, fmin, fmax)
#undef MEMSIM_MIN_MAX
MEMSIM_CUDA unsigned umin(unsigned a, unsigned b) { return min(a, b); }
MEMSIM_CUDA unsigned umax(unsigned a, unsigned b) { return max(a, b); }
MEMSIM_CUDA long long llmin(long long a, long long b) { return min(a, b); }
MEMSIM_CUDA long long llmax(long long a, long long b) { return max(a, b); }

// f(double) and f(float), the latter under two names; newer C libraries bring some of them.
#define MEMSIM_FLOAT(name, expression)                                                                                 \
    MEMSIM_CUDA float name(float x) { return static_cast<float>(expression); }
#define MEMSIM_REAL(name, expression)                                                                                  \
    MEMSIM_CUDA double name(double x) { return expression; }                                                           \
    MEMSIM_FLOAT(name, expression)                                                                                     \
    MEMSIM_FLOAT(name##f, expression)
#if __GLIBC_PREREQ(2, 41)
MEMSIM_FLOAT(sinpi, sinpif(x))
MEMSIM_FLOAT(cospi, cospif(x))
#else
MEMSIM_REAL(sinpi, sin(x* M_PI))
MEMSIM_REAL(cospi, cos(x* M_PI))
#endif
#if __GLIBC_PREREQ(2, 42)
MEMSIM_FLOAT(rsqrt, rsqrtf(x))
#else
MEMSIM_REAL(rsqrt, 1 / sqrt(x))
#endif
MEMSIM_REAL(rcbrt, 1 / cbrt(x))
MEMSIM_REAL(normcdf, 0.5 * erfc(-x * M_SQRT1_2))
MEMSIM_REAL(erfcx, exp(double(x) * x) * erfc(x))
#undef MEMSIM_REAL
#undef MEMSIM_FLOAT
MEMSIM_CUDA float fdividef(float a, float b) { return a / b; }
MEMSIM_CUDA float fdivide(float a, float b) { return a / b; }
MEMSIM_CUDA double fdivide(double a, double b) { return a / b; }
MEMSIM_CUDA float rhypotf(float a, float b) { return 1 / hypotf(a, b); }
MEMSIM_CUDA double rhypot(double a, double b) { return 1 / hypot(a, b); }
MEMSIM_CUDA float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
MEMSIM_CUDA double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
MEMSIM_CUDA float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
MEMSIM_CUDA double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
MEMSIM_CUDA void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
MEMSIM_CUDA void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }

// Intrinsics of single precision. glibc declares functions of these names for itself but exports none.
#if !defined(__clang__)
extern "C" {
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return powf(10, x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline void __sincosf(float x, float* s, float* c) noexcept { *s = sinf(x), *c = cosf(x); }
}
#endif
MEMSIM_CUDA float __fdividef(float a, float b) { return a / b; }
MEMSIM_CUDA float __saturatef(float x) { return x > 0 ? fminf(x, 1) : 0; }
MEMSIM_CUDA float saturate(float x) { return __saturatef(x); }

// With a rounding mode in the name: nearest-even is what the host does; the others differ in the last bit.
#define MEMSIM_ROUNDED(mode)                                                                                           \
    MEMSIM_CUDA float __fadd_##mode(float a, float b) { return a + b; }                                                \
    MEMSIM_CUDA float __fsub_##mode(float a, float b) { return a - b; }                                                \
    MEMSIM_CUDA float __fmul_##mode(float a, float b) { return a * b; }                                                \
    MEMSIM_CUDA float __fdiv_##mode(float a, float b) { return a / b; }                                                \
    MEMSIM_CUDA float __fmaf_##mode(float a, float b, float c) { return fmaf(a, b, c); }                               \
    MEMSIM_CUDA float __frcp_##mode(float a) { return 1 / a; }                                                         \
    MEMSIM_CUDA float __fsqrt_##mode(float a) { return sqrtf(a); }                                                     \
    MEMSIM_CUDA double __dadd_##mode(double a, double b) { return a + b; }                                             \
    MEMSIM_CUDA double __dsub_##mode(double a, double b) { return a - b; }                                             \
    MEMSIM_CUDA double __dmul_##mode(double a, double b) { return a * b; }                                             \
    MEMSIM_CUDA double __ddiv_##mode(double a, double b) { return a / b; }                                             \
    MEMSIM_CUDA double __fma_##mode(double a, double b, double c) { return fma(a, b, c); }                             \
    MEMSIM_CUDA double __drcp_##mode(double a) { return 1 / a; }                                                       \
    MEMSIM_CUDA double __dsqrt_##mode(double a) { return sqrt(a); }                                                    \
    MEMSIM_CUDA float __int2float_##mode(int a) { return a; }                                                          \
    MEMSIM_CUDA float __uint2float_##mode(unsigned a) { return a; }                                                    \
    MEMSIM_CUDA float __ll2float_##mode(long long a) { return a; }                                                     \
    MEMSIM_CUDA float __ull2float_##mode(unsigned long long a) { return a; }                                           \
    MEMSIM_CUDA float __double2float_##mode(double a) { return static_cast<float>(a); }                                \
    MEMSIM_CUDA double __ll2double_##mode(long long a) { return a; }                                                   \
    MEMSIM_CUDA double __ull2double_##mode(unsigned long long a) { return a; }
MEMSIM_ROUNDED(rn)
MEMSIM_ROUNDED(rz)
MEMSIM_ROUNDED(ru)
MEMSIM_ROUNDED(rd)
#undef MEMSIM_ROUNDED
MEMSIM_CUDA float __frsqrt_rn(float a) { return 1 / sqrtf(a); }
MEMSIM_CUDA double __int2double_rn(int a) { return a; }
MEMSIM_CUDA double __uint2double_rn(unsigned a) { return a; }

#define MEMSIM_TO_INTEGER(mode, round)                                                                                 \
    MEMSIM_CUDA int __float2int_##mode(float a) { return static_cast<int>(round(a)); }                                 \
    MEMSIM_CUDA unsigned __float2uint_##mode(float a) { return static_cast<unsigned>(round(a)); }                      \
    MEMSIM_CUDA long long __float2ll_##mode(float a) { return static_cast<long long>(round(a)); }                      \
    MEMSIM_CUDA unsigned long long __float2ull_##mode(float a) { return static_cast<unsigned long long>(round(a)); }   \
    MEMSIM_CUDA int __double2int_##mode(double a) { return static_cast<int>(round(a)); }                               \
    MEMSIM_CUDA unsigned __double2uint_##mode(double a) { return static_cast<unsigned>(round(a)); }                    \
    MEMSIM_CUDA long long __double2ll_##mode(double a) { return static_cast<long long>(round(a)); }                    \
    MEMSIM_CUDA unsigned long long __double2ull_##mode(double a) { return static_cast<unsigned long long>(round(a)); }
MEMSIM_TO_INTEGER(rn, rint)
MEMSIM_TO_INTEGER(rz, trunc)
MEMSIM_TO_INTEGER(ru, ceil)
MEMSIM_TO_INTEGER(rd, floor)
#undef MEMSIM_TO_INTEGER
