// Floating-point numbers of 8 and 16 bits on the host: IEEE 754 binary16, bfloat16, and the FP8 formats E4M3 and E5M2 of
// Micikevicius et al., "FP8 formats for deep learning" (2022). All round to nearest, ties to even.
#pragma once

#include <stdint.h>
#include <string.h>

#include <cmath>

namespace standin {

inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

// A format with a sign, `E` exponent bits and `M` fraction bits. `Finite`: the top exponent holds numbers, and only the
// pattern of all ones is not a number (E4M3); it has no infinity and conversion saturates, as cuBLAS documents.
template <int E, int M, bool Finite>
struct FloatFormat {
    static constexpr int bias = (1 << (E - 1)) - 1;
    static constexpr uint32_t top = (1u << E) - 1, ones = (1u << (E + M)) - 1;
    static constexpr uint32_t infinity = top << M, largest = Finite ? ones - 1 : infinity - 1;

    static float decode(uint32_t bits) {
        uint32_t exponent = bits >> M & top, fraction = bits & ((1u << M) - 1);
        float sign = bits >> (E + M) & 1 ? -1.0f : 1.0f;
        if (Finite ? (bits & ones) == ones : exponent == top && fraction) return NAN;
        if (!Finite && exponent == top) return sign * INFINITY;
        if (exponent == 0) return sign * std::ldexp(float(fraction), 1 - bias - M);
        return sign * float_of((exponent + 127 - bias) << 23 | fraction << (23 - M));
    }

    static uint32_t encode(float value) {
        uint32_t bits = bits_of(value), sign = bits >> 31 << (E + M), magnitude = bits & 0x7fffffff;
        if (magnitude > 0x7f800000) return sign | (Finite ? ones : infinity | 1u << (M - 1));
        int exponent = int(magnitude >> 23) - 127 + bias;
        uint32_t result;
        if (exponent >= int(top) + 1) {
            result = Finite ? largest : infinity;
        } else {
            // The bits below the fraction decide the rounding; a subnormal result loses more of them.
            uint64_t significand = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000u : 0);
            int dropped = 23 - M + (exponent < 1 ? 1 - exponent : 0);
            if (dropped > 40) dropped = 40;
            uint64_t kept = significand >> dropped, rest = significand & ((uint64_t{1} << dropped) - 1);
            uint64_t half = uint64_t{1} << (dropped - 1);
            kept += rest > half || (rest == half && kept & 1);
            // A carry out of the fraction moves into the exponent by itself.
            result = exponent < 1 ? uint32_t(kept) : uint32_t((uint64_t(exponent - 1) << M) + kept);
            if (result > largest) result = Finite ? largest : infinity;
        }
        return sign | result;
    }
};
using Binary16 = FloatFormat<5, 10, false>;
using E4M3 = FloatFormat<4, 3, true>;
using E5M2 = FloatFormat<5, 2, false>;

// A number in memory that computes as a float.
struct Half {
    uint16_t bits;
    operator float() const { return Binary16::decode(bits); }
    Half() = default;
    Half(float value) : bits(uint16_t(Binary16::encode(value))) {}
};
struct Bfloat16 {
    uint16_t bits;
    operator float() const { return float_of(uint32_t{bits} << 16); }
    Bfloat16() = default;
    Bfloat16(float value) {
        uint32_t all = bits_of(value);
        bits = value != value ? 0x7fff : uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16);
    }
};
template <class Format>
struct Float8 {
    uint8_t bits;
    operator float() const { return Format::decode(bits); }
    Float8() = default;
    // cuBLASLt saturates when it writes FP8 (cuBLAS documentation, "8-bit Floating Point Data Types").
    Float8(float value) {
        uint32_t code = Format::encode(value);
        if ((code & 0x7f) == Format::infinity && std::isfinite(value)) code = (code & 0x80) | Format::largest;
        bits = uint8_t(code);
    }
};

}  // namespace standin
