// Arrays whose element type is known at run time: cudaDataType of the CUDA libraries ("cudaDataType_t" in the cuBLAS
// documentation), with the documented numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <complex>
#include <type_traits>

#include "small_floats.h"

namespace standin {

using Complex32 = std::complex<float>;
using Complex64 = std::complex<double>;

enum DataType {
    R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_8U = 8, R_32I = 10, R_16BF = 14, R_64I = 24,
    R_8F_E4M3 = 28, R_8F_E5M2 = 29
};

template <class T> struct Tag { using type = T; };

// Calls visit(Tag<element type>) and returns true; false if the type has no element type here.
template <class Visit>
bool visit_type(int type, Visit&& visit) {
    switch (type) {
        case R_32F: return visit(Tag<float>{}), true;
        case R_64F: return visit(Tag<double>{}), true;
        case R_16F: return visit(Tag<Half>{}), true;
        case R_16BF: return visit(Tag<Bfloat16>{}), true;
        case R_8I: return visit(Tag<int8_t>{}), true;
        case R_8U: return visit(Tag<uint8_t>{}), true;
        case R_32I: return visit(Tag<int32_t>{}), true;
        case R_64I: return visit(Tag<int64_t>{}), true;
        case C_32F: return visit(Tag<Complex32>{}), true;
        case C_64F: return visit(Tag<Complex64>{}), true;
        case R_8F_E4M3: return visit(Tag<Float8<E4M3>>{}), true;
        case R_8F_E5M2: return visit(Tag<Float8<E5M2>>{}), true;
        default: return false;
    }
}

template <class T> struct IsComplex : std::false_type {};
template <class T> struct IsComplex<std::complex<T>> : std::true_type {};
template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;

// Conversion between element types; the imaginary part of a complex number is dropped where the target is real.
// An int8 result saturates (cuBLAS documentation, "cublasLtMatmul()").
template <class To, class From>
To convert(From value) {
    if constexpr (IsComplex<From>::value && IsComplex<To>::value) return To(Real<To>(value.real()), Real<To>(value.imag()));
    else if constexpr (IsComplex<From>::value) return convert<To>(value.real());
    else if constexpr (IsComplex<To>::value) return To(Real<To>(value), 0);
    else if constexpr (std::is_same<To, int8_t>::value) {
        double rounded = std::nearbyint(double(value));
        return int8_t(rounded < -128 ? -128 : rounded > 127 ? 127 : rounded);
    } else if constexpr (std::is_integral<To>::value && !std::is_integral<From>::value) return To(std::nearbyint(double(value)));
    else if constexpr (std::is_arithmetic<To>::value && std::is_arithmetic<From>::value) return To(value);
    else if constexpr (std::is_arithmetic<To>::value) return To(float(value));
    else return To(float(value));
}

inline size_t bytes_of(int type) {
    size_t bytes = 0;
    visit_type(type, [&](auto tag) { bytes = sizeof(typename decltype(tag)::type); });
    return bytes;
}

template <class T> T conjugate(T x) { return x; }
template <class T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }
template <class T> auto magnitude1(T x) { return std::abs(x); }
template <class T> T magnitude1(std::complex<T> x) { return std::abs(x.real()) + std::abs(x.imag()); }

}  // namespace standin
