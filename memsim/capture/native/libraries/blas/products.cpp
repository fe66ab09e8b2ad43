// Level 3 but for gemm: products of symmetric and triangular matrices, triangular solves, and the extensions geam and
// dgmm (cuBLAS documentation, "cuBLAS Level-3 Function Reference" and "BLAS-like Extension").
#include "../common/gemm.h"
#include "blas.h"

namespace standin {
namespace {

template <class T>
void scale_into(int64_t m, int64_t n, T alpha, const Dense<T>& sum, T beta, T* c, int64_t ldc) {
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
            T &to = c[j * ldc + i], value = alpha * sum[size_t(j) * m + i];
            to = beta != T(0) ? value + beta * to : value;
        }
}
template <class T>
Dense<T> columns_of(const T* a, int64_t lda, int64_t rows, int64_t columns) {
    return gather<T>(rows, columns, [=](int64_t i, int64_t j) { return a[j * lda + i]; });
}
// The whole of a symmetric or Hermitian matrix of which one triangle is stored.
template <bool Hermitian, class T>
Dense<T> whole(const T* a, int64_t lda, int fill, int64_t n) {
    return gather<T>(n, n, [=](int64_t i, int64_t j) {
        if (i == j) return Hermitian ? T(std::real(a[j * lda + i])) : a[j * lda + i];
        bool inside = fill == UPPER ? i < j : i > j;
        T value = inside ? a[j * lda + i] : a[i * lda + j];
        return Hermitian && !inside ? conjugate(value) : value;
    });
}
// op(A) of a triangular matrix, with zeros in the other triangle.
template <class T>
Dense<T> triangle(const T* a, int64_t lda, int fill, int op, int unit, int64_t n) {
    return gather<T>(n, n, [=](int64_t row, int64_t column) {
        int64_t i = op == OP_N ? row : column, j = op == OP_N ? column : row;
        if (i == j && unit) return T(1);
        if (fill == UPPER ? i > j : i < j) return T(0);
        return op == OP_C ? conjugate(a[j * lda + i]) : a[j * lda + i];
    });
}
template <bool Hermitian, class T>
int symm(int side, int fill, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta,
         T* c, int64_t ldc) {
    Dense<T> other = columns_of(b, ldb, m, n), matrix = whole<Hermitian>(a, lda, fill, side == LEFT ? m : n);
    scale_into(m, n, alpha, side == LEFT ? product(m, n, m, matrix, other) : product(m, n, n, other, matrix), beta, c, ldc);
    return done();
}
// C = alpha op(A) op(B)^T (or ^H) [+ the same with A and B exchanged] + beta C, in one triangle of C.
template <bool Hermitian, class T, class S>
int rank_k(bool twice, int fill, int op, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
           S beta, T* c, int64_t ldc) {
    auto take = [=](const T* from, int64_t leading, bool second) {
        // op(X) as n x k, or its (conjugate) transpose as k x n.
        auto element = [=](int64_t i, int64_t l) {
            T value = op == OP_N ? from[l * leading + i] : from[i * leading + l];
            bool conjugated = Hermitian && (second != (op != OP_N));
            return conjugated ? conjugate(value) : value;
        };
        return second ? gather<T>(k, n, [&](int64_t l, int64_t j) { return element(j, l); }) : gather<T>(n, k, element);
    };
    Dense<T> sum = product(n, n, k, take(a, lda, false), take(b, ldb, true)), swapped;
    if (twice) swapped = product(n, n, k, take(b, ldb, false), take(a, lda, true));
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = fill == UPPER ? 0 : j; i < (fill == UPPER ? j + 1 : n); ++i) {
            size_t index = size_t(j) * n + i;
            T &to = c[j * ldc + i], value = alpha * sum[index];
            if (twice) value += (Hermitian ? conjugate(alpha) : alpha) * swapped[index];
            to = beta != S(0) ? value + beta * to : value;
            if (Hermitian && i == j) to = T(std::real(to));
        }
    return done();
}
template <class T>
int trmm(int side, int fill, int op, int unit, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* b,
         int64_t ldb, T* c, int64_t ldc) {
    Dense<T> other = columns_of(b, ldb, m, n), matrix = triangle(a, lda, fill, op, unit, side == LEFT ? m : n);
    scale_into(m, n, alpha, side == LEFT ? product(m, n, m, matrix, other) : product(m, n, n, other, matrix), T(0), c, ldc);
    return done();
}
// Solves op(A) X = alpha B or X op(A) = alpha B; X replaces B.
template <class T>
void trsm(int side, int fill, int op, int unit, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
    int64_t size = side == LEFT ? m : n;
    Dense<T> matrix = triangle(a, lda, fill, op, unit, size);
    bool upper = (fill == UPPER) == (op == OP_N);
    auto element = [&](int64_t i, int64_t j) { return matrix[size_t(j) * size + i]; };
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) b[j * ldb + i] *= alpha;
    // From the unknown that stands alone, each solved one is subtracted from the others, column by column.
    for (int64_t step = 0; step < size; ++step) {
        if (side == LEFT) {
            int64_t l = upper ? size - 1 - step : step;
            for (int64_t j = 0; j < n; ++j) {
                T* column = b + j * ldb;
                T x = column[l] / element(l, l);
                column[l] = x;
                for (int64_t i = upper ? 0 : l + 1; i < (upper ? l : size); ++i) column[i] -= element(i, l) * x;
            }
        } else {
            int64_t l = upper ? step : size - 1 - step;
            T* solved = b + l * ldb;
            for (int64_t i = 0; i < m; ++i) solved[i] /= element(l, l);
            for (int64_t j = upper ? l + 1 : 0; j < (upper ? size : l); ++j)
                for (int64_t i = 0; i < m; ++i) b[j * ldb + i] -= solved[i] * element(l, j);
        }
    }
}
template <class T>
int geam(int ta, int tb, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, T beta, const T* b, int64_t ldb, T* c,
         int64_t ldc) {
    auto read = [](int op, const T* x, int64_t ld, int64_t i, int64_t j) {
        T value = op == OP_N ? x[j * ld + i] : x[i * ld + j];
        return op == OP_C ? conjugate(value) : value;
    };
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
            T sum{};
            if (alpha != T(0)) sum += alpha * read(ta, a, lda, i, j);
            if (beta != T(0)) sum += beta * read(tb, b, ldb, i, j);
            c[j * ldc + i] = sum;
        }
    return done();
}
template <class T>
int dgmm(int side, int64_t m, int64_t n, const T* a, int64_t lda, const T* x, int64_t incx, T* c, int64_t ldc) {
    int64_t length = side == LEFT ? m : n;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) c[j * ldc + i] = a[j * lda + i] * x[at(side == LEFT ? i : j, length, incx)];
    return done();
}

}  // namespace

#define SYMM_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int side, int fill, I m, I n, const T* alpha, const T* a, I lda, const T* b, I ldb,  \
                           const T* beta, T* c, I ldc) {                                                               \
        return symm<hermitian>(side, fill, m, n, *alpha, a, lda, b, ldb, *beta, c, ldc);                               \
    }
#define SYMM(name, I, T) SYMM_AS(name, I, T, false)
#define HEMM(name, I, T) SYMM_AS(name, I, T, true)
#define SYRK(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, I n, I k, const T* alpha, const T* a, I lda, const T* beta, T* c,  \
                           I ldc) {                                                                                    \
        return rank_k<false>(false, fill, op, n, k, *alpha, a, lda, a, lda, *beta, c, ldc);                            \
    }
#define HERK(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, I n, I k, const Real<T>* alpha, const T* a, I lda,                 \
                           const Real<T>* beta, T* c, I ldc) {                                                         \
        return rank_k<true>(false, fill, op, n, k, T(*alpha), a, lda, a, lda, *beta, c, ldc);                          \
    }
#define SYR2K_AS(name, I, T, S, hermitian, twice)                                                                      \
    MEMSIM_EXPORT int name(void*, int fill, int op, I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb,    \
                           const S* beta, T* c, I ldc) {                                                               \
        return rank_k<hermitian>(twice, fill, op, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                        \
    }
#define SYR2K(name, I, T) SYR2K_AS(name, I, T, T, false, true)
#define HER2K(name, I, T) SYR2K_AS(name, I, T, Real<T>, true, true)
#define SYRKX(name, I, T) SYR2K_AS(name, I, T, T, false, false)
#define HERKX(name, I, T) SYR2K_AS(name, I, T, Real<T>, true, false)
#define TRMM(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int side, int fill, int op, int unit, I m, I n, const T* alpha, const T* a, I lda,   \
                           const T* b, I ldb, T* c, I ldc) {                                                           \
        return trmm(side, fill, op, unit, m, n, *alpha, a, lda, b, ldb, c, ldc);                                       \
    }
#define TRSM(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int side, int fill, int op, int unit, I m, I n, const T* alpha, const T* a, I lda,   \
                           T* b, I ldb) {                                                                              \
        trsm(side, fill, op, unit, m, n, *alpha, a, lda, b, ldb);                                                      \
        return done();                                                                                                 \
    }
#define TRSM_BATCHED(name, I, T)                                                                                       \
    MEMSIM_EXPORT int name(void*, int side, int fill, int op, int unit, I m, I n, const T* alpha, const T* const a[],  \
                           I lda, T* const b[], I ldb, I count) {                                                      \
        for (I i = 0; i < count; ++i) trsm(side, fill, op, unit, m, n, *alpha, a[i], lda, b[i], ldb);                  \
        return done();                                                                                                 \
    }
#define GEAM(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int ta, int tb, I m, I n, const T* alpha, const T* a, I lda, const T* beta,          \
                           const T* b, I ldb, T* c, I ldc) {                                                           \
        return geam(ta, tb, m, n, *alpha, a, lda, *beta, b, ldb, c, ldc);                                              \
    }
#define DGMM(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int side, I m, I n, const T* a, I lda, const T* x, I incx, T* c, I ldc) {            \
        return dgmm(side, m, n, a, lda, x, incx, c, ldc);                                                              \
    }

ALL_V2(SYMM, symm)
COMPLEX_V2(HEMM, hemm)
ALL_V2(SYRK, syrk)
COMPLEX_V2(HERK, herk)
ALL_V2(SYR2K, syr2k)
COMPLEX_V2(HER2K, her2k)
ALL_PLAIN(SYRKX, syrkx)
BOTH_SIZES(HERKX, cublasCherkx, C)
BOTH_SIZES(HERKX, cublasZherkx, Z)
ALL_V2(TRMM, trmm)
ALL_V2(TRSM, trsm)
ALL_PLAIN(TRSM_BATCHED, trsmBatched)
ALL_PLAIN(GEAM, geam)
ALL_PLAIN(DGMM, dgmm)

}  // namespace standin
