// Level 1: vectors (cuBLAS documentation, "cuBLAS Level-1 Function Reference"). Sums are taken in double precision, so
// they differ from a GPU's, which adds in another order, by rounding only.
#include <algorithm>
#include <cmath>

#include "blas.h"

namespace standin {
namespace {

template <class T> struct WideOf { using type = double; };
template <class R> struct WideOf<std::complex<R>> { using type = Complex64; };
template <class T> using Wide = typename WideOf<T>::type;

template <class T, class S>
int axpy(int64_t n, S alpha, const T* x, int64_t incx, T* y, int64_t incy) {
    for (int64_t i = 0; i < n; ++i) y[at(i, n, incy)] += alpha * x[at(i, n, incx)];
    return done();
}
template <class T, class S>
int scal(int64_t n, S alpha, T* x, int64_t incx) {
    for (int64_t i = 0; i < n; ++i) x[i * incx] *= alpha;
    return done();
}
template <class T>
int copy(int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
    for (int64_t i = 0; i < n; ++i) y[at(i, n, incy)] = x[at(i, n, incx)];
    return done();
}
template <class T>
int swap(int64_t n, T* x, int64_t incx, T* y, int64_t incy) {
    for (int64_t i = 0; i < n; ++i) std::swap(y[at(i, n, incy)], x[at(i, n, incx)]);
    return done();
}
template <bool Conjugated, class T>
int dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, T* result) {
    Wide<T> sum{};
    for (int64_t i = 0; i < n; ++i) {
        Wide<T> left(x[at(i, n, incx)]), right(y[at(i, n, incy)]);
        sum += (Conjugated ? conjugate(left) : left) * right;
    }
    *result = T(sum);
    return done();
}
template <class T, class R>
int nrm2(int64_t n, const T* x, int64_t incx, R* result) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::norm(Wide<T>(x[i * incx]));
    *result = R(std::sqrt(sum));
    return done();
}
template <class T, class R>
int asum(int64_t n, const T* x, int64_t incx, R* result) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += magnitude1(Wide<T>(x[i * incx]));
    *result = R(sum);
    return done();
}
// The first of the largest (or smallest) elements, counted from 1; 0 of no elements.
template <bool Largest, class T, class I>
int extreme(int64_t n, const T* x, int64_t incx, I* result) {
    *result = n > 0 && incx > 0;
    for (int64_t i = 1; i < n && *result; ++i) {
        auto here = magnitude1(x[i * incx]), best = magnitude1(x[(*result - 1) * incx]);
        if (Largest ? here > best : here < best) *result = I(i + 1);
    }
    return done();
}
template <class T, class S>
int rotate(int64_t n, T* x, int64_t incx, T* y, int64_t incy, Real<T> c, S s) {
    for (int64_t i = 0; i < n; ++i) {
        T &a = x[at(i, n, incx)], &b = y[at(i, n, incy)], old = a;
        a = c * old + s * b;
        b = c * b - conjugate(s) * old;
    }
    return done();
}
template <class T>
int make_rotation(T* a, T* b, T* c, T* s) {
    T r = std::hypot(*a, *b), z = 0;
    if (r == 0) {
        *c = 1, *s = 0;
    } else {
        r = std::copysign(r, std::abs(*a) > std::abs(*b) ? *a : *b);
        *c = *a / r, *s = *b / r;
        z = std::abs(*a) > std::abs(*b) ? *s : *c != 0 ? 1 / *c : T(1);
    }
    *a = r, *b = z;
    return done();
}
template <class R>
int make_rotation(std::complex<R>* a, const std::complex<R>* b, R* c, std::complex<R>* s) {
    R size = std::abs(*a);
    if (size == 0) {
        *c = 0, *s = 1, *a = *b;
        return done();
    }
    R norm = std::hypot(size, std::abs(*b));
    std::complex<R> direction = *a / size;
    *c = size / norm, *s = direction * std::conj(*b) / norm, *a = direction * norm;
    return done();
}
// The modified Givens rotation: param[0] says which entries of the matrix are given.
template <class T>
int rotate_modified(int64_t n, T* x, int64_t incx, T* y, int64_t incy, const T* param) {
    T flag = param[0], h11 = param[1], h21 = param[2], h12 = param[3], h22 = param[4];
    if (flag == -2) return done();
    if (flag == 0) h11 = h22 = 1;
    if (flag == 1) h12 = 1, h21 = -1;
    for (int64_t i = 0; i < n; ++i) {
        T &a = x[at(i, n, incx)], &b = y[at(i, n, incy)], old = a;
        a = h11 * old + h12 * b;
        b = h21 * old + h22 * b;
    }
    return done();
}

}  // namespace

#define AXPY(name, I, T)                                                                                    \
    MEMSIM_EXPORT int name(void*, I n, const T* alpha, const T* x, I incx, T* y, I incy) {                  \
        return axpy(n, *alpha, x, incx, y, incy);                                                           \
    }
#define SCAL(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* alpha, T* x, I incx) { return scal(n, *alpha, x, incx); }
#define SCAL_REAL(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const Real<T>* alpha, T* x, I incx) { return scal(n, *alpha, x, incx); }
#define COPY(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, T* y, I incy) { return copy(n, x, incx, y, incy); }
#define SWAP(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, T* x, I incx, T* y, I incy) { return swap(n, x, incx, y, incy); }
#define DOT(name, I, T)                                                                                     \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, const T* y, I incy, T* result) {                 \
        return dot<false>(n, x, incx, y, incy, result);                                                     \
    }
#define DOTC(name, I, T)                                                                                    \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, const T* y, I incy, T* result) {                 \
        return dot<true>(n, x, incx, y, incy, result);                                                      \
    }
#define NRM2(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, Real<T>* result) { return nrm2(n, x, incx, result); }
#define ASUM(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, Real<T>* result) { return asum(n, x, incx, result); }
#define AMAX(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, I* result) { return extreme<true>(n, x, incx, result); }
#define AMIN(name, I, T) \
    MEMSIM_EXPORT int name(void*, I n, const T* x, I incx, I* result) { return extreme<false>(n, x, incx, result); }
#define ROT(name, I, T)                                                                                     \
    MEMSIM_EXPORT int name(void*, I n, T* x, I incx, T* y, I incy, const Real<T>* c, const T* s) {          \
        return rotate(n, x, incx, y, incy, *c, *s);                                                         \
    }
#define ROT_REAL(name, I, T)                                                                                \
    MEMSIM_EXPORT int name(void*, I n, T* x, I incx, T* y, I incy, const Real<T>* c, const Real<T>* s) {    \
        return rotate(n, x, incx, y, incy, *c, *s);                                                         \
    }
#define ROTM(name, I, T)                                                                                    \
    MEMSIM_EXPORT int name(void*, I n, T* x, I incx, T* y, I incy, const T* param) {                        \
        return rotate_modified(n, x, incx, y, incy, param);                                                 \
    }

ALL_V2(AXPY, axpy)
ALL_V2(SCAL, scal)
BOTH_SIZES(SCAL_REAL, cublasCsscal_v2, C)
BOTH_SIZES(SCAL_REAL, cublasZdscal_v2, Z)
ALL_V2(COPY, copy)
ALL_V2(SWAP, swap)
REAL_V2(DOT, dot)
COMPLEX_V2(DOT, dotu)
COMPLEX_V2(DOTC, dotc)
REAL_V2(NRM2, nrm2)
BOTH_SIZES(NRM2, cublasScnrm2_v2, C)
BOTH_SIZES(NRM2, cublasDznrm2_v2, Z)
REAL_V2(ASUM, asum)
BOTH_SIZES(ASUM, cublasScasum_v2, C)
BOTH_SIZES(ASUM, cublasDzasum_v2, Z)
BOTH_SIZES(AMAX, cublasIsamax_v2, float)
BOTH_SIZES(AMAX, cublasIdamax_v2, double)
BOTH_SIZES(AMAX, cublasIcamax_v2, C)
BOTH_SIZES(AMAX, cublasIzamax_v2, Z)
BOTH_SIZES(AMIN, cublasIsamin_v2, float)
BOTH_SIZES(AMIN, cublasIdamin_v2, double)
BOTH_SIZES(AMIN, cublasIcamin_v2, C)
BOTH_SIZES(AMIN, cublasIzamin_v2, Z)
ALL_V2(ROT, rot)
BOTH_SIZES(ROT_REAL, cublasCsrot_v2, C)
BOTH_SIZES(ROT_REAL, cublasZdrot_v2, Z)
REAL_V2(ROTM, rotm)
MEMSIM_EXPORT int cublasSrotg_v2(void*, float* a, float* b, float* c, float* s) { return make_rotation(a, b, c, s); }
MEMSIM_EXPORT int cublasDrotg_v2(void*, double* a, double* b, double* c, double* s) { return make_rotation(a, b, c, s); }
MEMSIM_EXPORT int cublasCrotg_v2(void*, C* a, C* b, float* c, C* s) { return make_rotation(a, b, c, s); }
MEMSIM_EXPORT int cublasZrotg_v2(void*, Z* a, Z* b, double* c, Z* s) { return make_rotation(a, b, c, s); }

// Functions whose types are arguments ("cuBLAS extension"). All compute in double precision or complex of it.
namespace {

Z element(const void* array, int type, int64_t index) {
    Z value;
    visit_type(type, [&](auto tag) { value = convert<Z>(static_cast<const typename decltype(tag)::type*>(array)[index]); });
    return value;
}
bool store(void* array, int type, int64_t index, Z value) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        static_cast<T*>(array)[index] = convert<T>(value);
    });
}
int dot_typed(bool conjugated, int64_t n, const void* x, int x_type, int64_t incx, const void* y, int y_type,
              int64_t incy, void* result, int result_type) {
    Z sum{};
    for (int64_t i = 0; i < n; ++i) {
        Z left = element(x, x_type, at(i, n, incx));
        sum += (conjugated ? std::conj(left) : left) * element(y, y_type, at(i, n, incy));
    }
    return store(result, result_type, 0, sum) ? done() : NOT_SUPPORTED;
}

}  // namespace

#define TYPED(suffix, I)                                                                                               \
    MEMSIM_EXPORT int cublasAxpyEx##suffix(void*, I n, const void* alpha, int alpha_type, const void* x, int x_type,   \
                                           I incx, void* y, int y_type, I incy, int) {                                 \
        Z factor = element(alpha, alpha_type, 0);                                                                      \
        for (int64_t i = 0; i < n; ++i) {                                                                              \
            int64_t to = at(i, n, incy);                                                                               \
            Z sum = element(y, y_type, to) + factor * element(x, x_type, at(i, n, incx));                              \
            if (!store(y, y_type, to, sum)) return NOT_SUPPORTED;                                                      \
        }                                                                                                              \
        return done();                                                                                                 \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasScalEx##suffix(void*, I n, const void* alpha, int alpha_type, void* x, int x_type, I incx, \
                                           int) {                                                                      \
        Z factor = element(alpha, alpha_type, 0);                                                                      \
        for (int64_t i = 0; i < n; ++i)                                                                                \
            if (!store(x, x_type, i * incx, factor * element(x, x_type, i * incx))) return NOT_SUPPORTED;              \
        return done();                                                                                                 \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasNrm2Ex##suffix(void*, I n, const void* x, int x_type, I incx, void* result, int type,      \
                                           int) {                                                                      \
        double sum = 0;                                                                                                \
        for (int64_t i = 0; i < n; ++i) sum += std::norm(element(x, x_type, i * incx));                                \
        return store(result, type, 0, std::sqrt(sum)) ? done() : NOT_SUPPORTED;                                        \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasDotEx##suffix(void*, I n, const void* x, int x_type, I incx, const void* y, int y_type,    \
                                          I incy, void* result, int type, int) {                                       \
        return dot_typed(false, n, x, x_type, incx, y, y_type, incy, result, type);                                    \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublasDotcEx##suffix(void*, I n, const void* x, int x_type, I incx, const void* y, int y_type,   \
                                           I incy, void* result, int type, int) {                                      \
        return dot_typed(true, n, x, x_type, incx, y, y_type, incy, result, type);                                     \
    }
TYPED(, int)
TYPED(_64, int64_t)

}  // namespace standin
