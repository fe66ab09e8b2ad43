// What __half and __nv_bfloat16 have in common: a value in 16 bits that is computed with as a float, and pairs of them.
#pragma once

#include "math.h"

// Arithmetic and comparisons of `type` and of pairs `pair`, as operators.
#define MEMSIM_SMALL_OPERATOR(type, pair, op)                                                                          \
    MEMSIM_CUDA type operator op(type a, type b) { return type(float(a) op float(b)); }                                \
    MEMSIM_CUDA type& operator op##=(type & a, type b) { return a = a op b; }                                          \
    MEMSIM_CUDA pair operator op(pair a, pair b) { return pair(a.x op b.x, a.y op b.y); }                              \
    MEMSIM_CUDA pair& operator op##=(pair & a, pair b) { return a = a op b; }
#define MEMSIM_SMALL_COMPARISON(type, pair, op, name)                                                                  \
    MEMSIM_CUDA bool operator op(type a, type b) { return float(a) op float(b); }                                      \
    MEMSIM_CUDA bool __h##name(type a, type b) { return a op b && !isnan(float(a)) && !isnan(float(b)); }              \
    MEMSIM_CUDA pair __h##name##2(pair a, pair b) {                                                                    \
        return pair(type(__h##name(a.x, b.x)), type(__h##name(a.y, b.y)));                                             \
    }                                                                                                                  \
    MEMSIM_CUDA bool __hb##name##2(pair a, pair b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define MEMSIM_SMALL_BINARY(type, pair, name, expression)                                                              \
    MEMSIM_CUDA type name(type a, type b) { return type(expression); }                                                 \
    MEMSIM_CUDA pair name##2(pair a, pair b) { return pair(name(a.x, b.x), name(a.y, b.y)); }
#define MEMSIM_SMALL_UNARY(type, pair, name, expression)                                                               \
    MEMSIM_CUDA type h##name(type value) {                                                                             \
        float x = value;                                                                                               \
        return type(expression);                                                                                       \
    }                                                                                                                  \
    MEMSIM_CUDA pair h2##name(pair v) { return pair(h##name(v.x), h##name(v.y)); }

#define MEMSIM_SMALL_FLOAT(type, pair)                                                                                 \
    MEMSIM_SMALL_OPERATOR(type, pair, +)                                                                               \
    MEMSIM_SMALL_OPERATOR(type, pair, -)                                                                               \
    MEMSIM_SMALL_OPERATOR(type, pair, *)                                                                               \
    MEMSIM_SMALL_OPERATOR(type, pair, /)                                                                               \
    MEMSIM_CUDA type operator-(type a) { return type(-float(a)); }                                                     \
    MEMSIM_CUDA pair operator-(pair a) { return pair(-a.x, -a.y); }                                                    \
    MEMSIM_SMALL_COMPARISON(type, pair, ==, eq)                                                                        \
    MEMSIM_SMALL_COMPARISON(type, pair, !=, ne)                                                                        \
    MEMSIM_SMALL_COMPARISON(type, pair, <, lt)                                                                         \
    MEMSIM_SMALL_COMPARISON(type, pair, >, gt)                                                                         \
    MEMSIM_SMALL_COMPARISON(type, pair, <=, le)                                                                        \
    MEMSIM_SMALL_COMPARISON(type, pair, >=, ge)                                                                        \
    MEMSIM_SMALL_BINARY(type, pair, __hadd, float(a) + float(b))                                                       \
    MEMSIM_SMALL_BINARY(type, pair, __hsub, float(a) - float(b))                                                       \
    MEMSIM_SMALL_BINARY(type, pair, __hmul, float(a) * float(b))                                                       \
    MEMSIM_SMALL_BINARY(type, pair, __hmin, fminf(a, b))                                                               \
    MEMSIM_SMALL_BINARY(type, pair, __hmax, fmaxf(a, b))                                                               \
    MEMSIM_CUDA type __hdiv(type a, type b) { return a / b; }                                                          \
    MEMSIM_CUDA pair __h2div(pair a, pair b) { return a / b; }                                                         \
    MEMSIM_CUDA type __hneg(type a) { return -a; }                                                                     \
    MEMSIM_CUDA pair __hneg2(pair a) { return -a; }                                                                    \
    MEMSIM_CUDA type __habs(type a) { return type(fabsf(a)); }                                                         \
    MEMSIM_CUDA pair __habs2(pair a) { return pair(__habs(a.x), __habs(a.y)); }                                        \
    MEMSIM_CUDA type __hfma(type a, type b, type c) { return type(fmaf(a, b, c)); }                                    \
    MEMSIM_CUDA pair __hfma2(pair a, pair b, pair c) { return pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }    \
    MEMSIM_CUDA bool __hisnan(type a) { return isnan(float(a)); }                                                      \
    MEMSIM_CUDA int __hisinf(type a) { return isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0; }                         \
    MEMSIM_SMALL_UNARY(type, pair, sqrt, sqrtf(x))                                                                     \
    MEMSIM_SMALL_UNARY(type, pair, rsqrt, 1 / sqrtf(x))                                                                \
    MEMSIM_SMALL_UNARY(type, pair, rcp, 1 / x)                                                                         \
    MEMSIM_SMALL_UNARY(type, pair, exp, expf(x))                                                                       \
    MEMSIM_SMALL_UNARY(type, pair, exp2, exp2f(x))                                                                     \
    MEMSIM_SMALL_UNARY(type, pair, log, logf(x))                                                                       \
    MEMSIM_SMALL_UNARY(type, pair, log2, log2f(x))                                                                     \
    MEMSIM_SMALL_UNARY(type, pair, sin, sinf(x))                                                                       \
    MEMSIM_SMALL_UNARY(type, pair, cos, cosf(x))                                                                       \
    MEMSIM_SMALL_UNARY(type, pair, tanh, tanhf(x))                                                                     \
    MEMSIM_SMALL_UNARY(type, pair, floor, floorf(x))                                                                   \
    MEMSIM_SMALL_UNARY(type, pair, ceil, ceilf(x))                                                                     \
    MEMSIM_SMALL_UNARY(type, pair, trunc, truncf(x))                                                                   \
    MEMSIM_SMALL_UNARY(type, pair, rint, rintf(x))

// Conversions; `name` is how CUDA's functions call the type.
#define MEMSIM_SMALL_CONVERSIONS(type, pair, name)                                                                     \
    MEMSIM_CUDA type __float2##name(float x) { return type(x); }                                                       \
    MEMSIM_CUDA type __float2##name##_rn(float x) { return type(x); }                                                  \
    MEMSIM_CUDA type __double2##name(double x) { return type(x); }                                                     \
    MEMSIM_CUDA float __##name##2float(type x) { return x; }                                                           \
    MEMSIM_CUDA unsigned short __##name##_as_ushort(type x) { return x.bits; }                                         \
    MEMSIM_CUDA type __ushort_as_##name(unsigned short bits) { return type##_raw{bits}; }                              \
    MEMSIM_CUDA pair __float2##name##2_rn(float x) { return {x, x}; }                                                  \
    MEMSIM_CUDA pair __floats2##name##2_rn(float x, float y) { return {x, y}; }                                        \
    MEMSIM_CUDA pair __float22##name##2_rn(float2 v) { return {v.x, v.y}; }                                            \
    MEMSIM_CUDA float2 __##name##22float2(pair v) { return {v.x, v.y}; }                                               \
    MEMSIM_CUDA pair __##name##2##name##2(type x) { return {x, x}; }                                                   \
    MEMSIM_CUDA pair __halves2##name##2(type x, type y) { return {x, y}; }                                             \
    MEMSIM_CUDA pair make_##name##2(type x, type y) { return {x, y}; }                                                 \
    MEMSIM_CUDA type __low2##name(pair v) { return v.x; }                                                              \
    MEMSIM_CUDA type __high2##name(pair v) { return v.y; }                                                             \
    MEMSIM_CUDA float __low2float(pair v) { return v.x; }                                                              \
    MEMSIM_CUDA float __high2float(pair v) { return v.y; }
