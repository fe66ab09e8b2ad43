// What __half and __nv_bfloat16 have beside plain arithmetic: results held between 0 and 1, NaNs that win or lose, masks,
// halves of pairs in other orders (CUDA Math API, "Half Arithmetic Functions", "Half Comparison Functions").
#pragma once

#include "intrinsics.h"
#include "small_floats.h"

// Compared, but not ordered: true if one is no number.
#define MEMSIM_SMALL_UNORDERED(type, pair, op, name)                                                                   \
    MEMSIM_CUDA bool __h##name##u(type a, type b) { return a op b || __hisnan(a) || __hisnan(b); }                     \
    MEMSIM_CUDA pair __h##name##u2(pair a, pair b) {                                                                   \
        return pair(type(__h##name##u(a.x, b.x)), type(__h##name##u(a.y, b.y)));                                       \
    }                                                                                                                  \
    MEMSIM_CUDA bool __hb##name##u2(pair a, pair b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }       \
    MEMSIM_CUDA unsigned __h##name##2_mask(pair a, pair b) {                                                           \
        return (__h##name(a.x, b.x) ? 0xFFFF : 0) | (__h##name(a.y, b.y) ? 0xFFFF0000 : 0);                            \
    }                                                                                                                  \
    MEMSIM_CUDA unsigned __h##name##u2_mask(pair a, pair b) {                                                          \
        return (__h##name##u(a.x, b.x) ? 0xFFFF : 0) | (__h##name##u(a.y, b.y) ? 0xFFFF0000 : 0);                      \
    }
// Rounded with no multiply-add made of it, and held between 0 and 1.
#define MEMSIM_SMALL_HELD(type, pair, name)                                                                            \
    MEMSIM_CUDA type name##_rn(type a, type b) { return name(a, b); }                                                  \
    MEMSIM_CUDA pair name##2_rn(pair a, pair b) { return name##2(a, b); }                                              \
    MEMSIM_CUDA type name##_sat(type a, type b) { return type(__saturatef(name(a, b))); }                              \
    MEMSIM_CUDA pair name##2_sat(pair a, pair b) { return pair(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
#define MEMSIM_SMALL_WITH_NAN(type, pair, name)                                                                        \
    MEMSIM_CUDA type name##_nan(type a, type b) { return __hisnan(a) || __hisnan(b) ? type(CUDART_NAN_F) : name(a, b); } \
    MEMSIM_CUDA pair name##2_nan(pair a, pair b) { return pair(name##_nan(a.x, b.x), name##_nan(a.y, b.y)); }

#define MEMSIM_SMALL_SPECIAL(type, pair, name)                                                                         \
    MEMSIM_SMALL_UNORDERED(type, pair, ==, eq)                                                                         \
    MEMSIM_SMALL_UNORDERED(type, pair, !=, ne)                                                                         \
    MEMSIM_SMALL_UNORDERED(type, pair, <, lt)                                                                          \
    MEMSIM_SMALL_UNORDERED(type, pair, >, gt)                                                                          \
    MEMSIM_SMALL_UNORDERED(type, pair, <=, le)                                                                         \
    MEMSIM_SMALL_UNORDERED(type, pair, >=, ge)                                                                         \
    MEMSIM_SMALL_HELD(type, pair, __hadd)                                                                              \
    MEMSIM_SMALL_HELD(type, pair, __hsub)                                                                              \
    MEMSIM_SMALL_HELD(type, pair, __hmul)                                                                              \
    MEMSIM_SMALL_WITH_NAN(type, pair, __hmin)                                                                          \
    MEMSIM_SMALL_WITH_NAN(type, pair, __hmax)                                                                          \
    MEMSIM_CUDA type __hfma_sat(type a, type b, type c) { return type(__saturatef(__hfma(a, b, c))); }                 \
    MEMSIM_CUDA pair __hfma2_sat(pair a, pair b, pair c) {                                                             \
        return pair(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                                             \
    }                                                                                                                  \
    MEMSIM_CUDA type __hfma_relu(type a, type b, type c) { return __hmax_nan(__hfma(a, b, c), type(0.f)); }            \
    MEMSIM_CUDA pair __hfma2_relu(pair a, pair b, pair c) {                                                            \
        return pair(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                                           \
    }                                                                                                                  \
    MEMSIM_CUDA pair __hcmadd(pair a, pair b, pair c) {                                                                \
        return pair(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));                \
    }                                                                                                                  \
    MEMSIM_CUDA pair __hisnan2(pair a) { return pair(type(__hisnan(a.x)), type(__hisnan(a.y))); }                      \
    MEMSIM_SMALL_UNARY(type, pair, exp10, powf(10, x))                                                                 \
    MEMSIM_SMALL_UNARY(type, pair, log10, log10f(x))                                                                   \
    MEMSIM_CUDA type htanh_approx(type x) { return htanh(x); }                                                         \
    MEMSIM_CUDA pair h2tanh_approx(pair x) { return h2tanh(x); }                                                       \
    MEMSIM_CUDA short __##name##_as_short(type x) { return static_cast<short>(x.bits); }                               \
    MEMSIM_CUDA type __short_as_##name(short bits) { return type##_raw{static_cast<unsigned short>(bits)}; }           \
    MEMSIM_CUDA pair __low2##name##2(pair v) { return {v.x, v.x}; }                                                    \
    MEMSIM_CUDA pair __high2##name##2(pair v) { return {v.y, v.y}; }                                                   \
    MEMSIM_CUDA pair __lows2##name##2(pair a, pair b) { return {a.x, b.x}; }                                           \
    MEMSIM_CUDA pair __highs2##name##2(pair a, pair b) { return {a.y, b.y}; }                                          \
    MEMSIM_CUDA pair __lowhigh2highlow(pair v) { return {v.y, v.x}; }
