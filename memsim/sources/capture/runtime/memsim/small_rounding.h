// Conversions of __half and __nv_bfloat16 by a named rounding mode, from and to float and integers (CUDA Math API, "Half
// Precision Conversion and Data Movement", "Bfloat16 Precision Conversion and Data Movement").
#pragma once

#include <limits>

#include "intrinsics.h"
#include "math.h"

namespace memsim_probe {

// To float, its last bit set where digits were lost: whatever is made of it is rounded once.
inline float to_odd(long double exact) {
    float near = static_cast<float>(exact);
    if (near == exact || isinf(near)) return near;
    unsigned bits = __float_as_uint(near);
    if (fabsl(near) > fabsl(exact)) --bits;
    return __uint_as_float(bits | 1);
}

// As the hardware converts: what is too large to the largest, NaN to 0, or of 64 bits to the highest bit alone.
template <class Integer>
__host__ __device__ Integer saturated(float rounded) {
    typedef std::numeric_limits<Integer> Limits;
    if (isnan(rounded)) return sizeof(Integer) < 8 ? 0 : static_cast<Integer>(1ULL << 63);
    if (rounded <= static_cast<float>(Limits::min())) return Limits::min();
    return rounded >= static_cast<float>(Limits::max()) ? Limits::max() : static_cast<Integer>(rounded);
}

}  // namespace memsim_probe

#define MEMSIM_SMALL_TO_INTEGER(type, name, integer, short_name, mode, round)                                          \
    MEMSIM_CUDA integer __##name##2##short_name##_##mode(type x) {                                                     \
        return memsim_probe::saturated<integer>(round(float(x)));                                                      \
    }                                                                                                                  \
    MEMSIM_CUDA type __##short_name##2##name##_##mode(integer x) {                                                     \
        return __float2##name##_##mode(memsim_probe::to_odd(x));                                                       \
    }
#define MEMSIM_SMALL_INTEGERS(type, name, mode, round)                                                                 \
    MEMSIM_SMALL_TO_INTEGER(type, name, int, int, mode, round)                                                         \
    MEMSIM_SMALL_TO_INTEGER(type, name, unsigned, uint, mode, round)                                                   \
    MEMSIM_SMALL_TO_INTEGER(type, name, short, short, mode, round)                                                     \
    MEMSIM_SMALL_TO_INTEGER(type, name, unsigned short, ushort, mode, round)                                           \
    MEMSIM_SMALL_TO_INTEGER(type, name, long long, ll, mode, round)                                                    \
    MEMSIM_SMALL_TO_INTEGER(type, name, unsigned long long, ull, mode, round)

// To the neighbour on the other side where the nearest is on the wrong one.
#define MEMSIM_SMALL_ROUNDING(type, name)                                                                              \
    MEMSIM_CUDA type __float2##name##_rz(float x) {                                                                    \
        type near(x);                                                                                                  \
        if (fabsf(near) > fabsf(x)) --near.bits;                                                                       \
        return near;                                                                                                   \
    }                                                                                                                  \
    MEMSIM_CUDA type __float2##name##_ru(float x) {                                                                    \
        type near(x);                                                                                                  \
        if (float(near) < x) near.bits += signbit(x) ? -1 : 1;                                                         \
        return near;                                                                                                   \
    }                                                                                                                  \
    MEMSIM_CUDA type __float2##name##_rd(float x) { return -__float2##name##_ru(-x); }                                 \
    MEMSIM_SMALL_INTEGERS(type, name, rn, rintf)                                                                       \
    MEMSIM_SMALL_INTEGERS(type, name, rz, truncf)                                                                      \
    MEMSIM_SMALL_INTEGERS(type, name, ru, ceilf)                                                                       \
    MEMSIM_SMALL_INTEGERS(type, name, rd, floorf)                                                                      \
    MEMSIM_CUDA signed char __##name##2char_rz(type x) { return memsim_probe::saturated<signed char>(x); }             \
    MEMSIM_CUDA unsigned char __##name##2uchar_rz(type x) { return memsim_probe::saturated<unsigned char>(x); }
