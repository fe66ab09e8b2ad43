// Mathematical functions that no C library has: inverses of error functions, norms of many numbers, Bessel functions of
// an imaginary argument (CUDA Math API).
#pragma once

#include "math.h"

namespace memsim_probe {

// The x with erf(x) = y or erfc(x) = y, by Halley's steps from a point that is near: three leave the last bits.
template <class Missed>
__host__ __device__ double inverse_error(double x, double slope, Missed missed) {
    for (int step = 0; step < 3; ++step) {
        double newton = missed(x) / (slope * M_2_SQRTPI * exp(-x * x));
        x -= newton / (1 + x * newton);
    }
    return x;
}

// Sum of (x / 2)^(2k + order) / (k! (k + order)!): all terms are positive, so none cancels another (DLMF 10.25.2).
__host__ __device__ inline double bessel_i(int order, double x) {
    double quarter = x * x / 4, term = order ? x / 2 : 1, sum = term;
    for (int k = 1; fabs(term) > 1e-17 * fabs(sum); ++k) sum += term *= quarter / k / (k + order);
    return sum;
}

// The x with erfc(x) = y < 1e-300, where erfc() has few digits or none: by Newton's steps from sqrt(-log(y)) towards
// -x^2 - log(x sqrt(pi)) + log(1 - u + 3 u^2 - 15 u^3 + ...) = log(y), u = 1 / 2x^2 (DLMF 7.12.1).
__host__ __device__ inline double inverse_of_least(double y) {
    double x = sqrt(-log(y));
    for (int step = 0; step < 4; ++step) {
        double u = 1 / (2 * x * x), series = 1 - u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u * (1 - 9 * u))));
        double missed = -x * x - log(x / M_2_SQRTPI * 2) + log(series) - log(y);
        x += missed / (2 * x + 1 / x);
    }
    return x;
}

}  // namespace memsim_probe

MEMSIM_CUDA double erfcinv(double y);
MEMSIM_CUDA double erfinv(double y) {
    if (fabs(y) > 0.5) return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
    return memsim_probe::inverse_error(y / M_2_SQRTPI, 1, [y](double x) { return erf(x) - y; });
}
MEMSIM_CUDA double erfcinv(double y) {
    if (!(y > 0 && y < 2)) return y == 0 ? CUDART_INF : y == 2 ? -CUDART_INF : CUDART_NAN;
    if (y > 1) return -erfcinv(2 - y);
    if (y >= 0.5) return erfinv(1 - y);
    if (y < 1e-300) return memsim_probe::inverse_of_least(y);
    double t = sqrt(-2 * log(y / 2));  // Abramowitz and Stegun 26.2.22: to 3e-3
    double near = (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t))) * M_SQRT1_2;
    return memsim_probe::inverse_error(near, -1, [y](double x) { return erfc(x) - y; });
}
MEMSIM_CUDA double normcdfinv(double y) { return -M_SQRT2 * erfcinv(2 * y); }
MEMSIM_CUDA double cyl_bessel_i0(double x) { return memsim_probe::bessel_i(0, x); }
MEMSIM_CUDA double cyl_bessel_i1(double x) { return memsim_probe::bessel_i(1, x); }
#define MEMSIM_FLOAT(name)                                                                                             \
    MEMSIM_CUDA float name(float x) { return static_cast<float>(name(double(x))); }                                    \
    MEMSIM_CUDA float name##f(float x) { return name(x); }
MEMSIM_FLOAT(erfinv)
MEMSIM_FLOAT(erfcinv)
MEMSIM_FLOAT(normcdfinv)
#undef MEMSIM_FLOAT
MEMSIM_CUDA float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(x)); }
MEMSIM_CUDA float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(x)); }

#define MEMSIM_NORMS(type, suffix)                                                                                     \
    MEMSIM_CUDA type norm4d##suffix(type a, type b, type c, type d) {                                                  \
        return hypot##suffix(hypot##suffix(a, b), hypot##suffix(c, d));                                                \
    }                                                                                                                  \
    MEMSIM_CUDA type rnorm4d##suffix(type a, type b, type c, type d) { return 1 / norm4d##suffix(a, b, c, d); }        \
    MEMSIM_CUDA type norm##suffix(int n, const type* of) {                                                             \
        type length = 0;                                                                                               \
        for (int i = 0; i < n; ++i) length = hypot##suffix(length, of[i]);                                             \
        return length;                                                                                                 \
    }                                                                                                                  \
    MEMSIM_CUDA type rnorm##suffix(int n, const type* of) { return 1 / norm##suffix(n, of); }
MEMSIM_NORMS(double, )
MEMSIM_NORMS(float, f)
#undef MEMSIM_NORMS
MEMSIM_CUDA unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
MEMSIM_CUDA unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
