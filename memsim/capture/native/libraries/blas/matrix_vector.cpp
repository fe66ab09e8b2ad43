// Level 2: a matrix and a vector (cuBLAS documentation, "cuBLAS Level-2 Function Reference"). A matrix is given as a
// function of (i, j), so that full, banded and packed storage share the loops.
#include <vector>

#include "blas.h"

namespace standin {
namespace {

// Storage of triangles: full columns; bands, where the diagonal is row k (upper) or row 0 (lower); packed columns.
template <class T>
auto full(T* a, int64_t lda) {
    return [=](int64_t i, int64_t j) -> T& { return a[j * lda + i]; };
}
template <class T>
auto band(T* a, int64_t lda, int fill, int64_t k) {
    return [=](int64_t i, int64_t j) -> T& { return a[j * lda + (fill == UPPER ? k + i - j : i - j)]; };
}
template <class T>
auto packed(T* a, int64_t n, int fill) {
    return [=](int64_t i, int64_t j) -> T& {
        return a[fill == UPPER ? i + j * (j + 1) / 2 : i + (2 * n - j - 1) * j / 2];
    };
}

// y = alpha op(A) x + beta y, where op(A) is rows x columns and read(i, j) its element.
template <class T, class Read>
int multiply(int64_t rows, int64_t columns, T alpha, Read&& read, const T* x, int64_t incx, T beta, T* y, int64_t incy) {
    for (int64_t i = 0; i < rows; ++i) {
        T sum{}, &to = y[at(i, rows, incy)];
        for (int64_t j = 0; j < columns; ++j) sum += read(i, j) * x[at(j, columns, incx)];
        to = alpha * sum + (beta != T(0) ? beta * to : T(0));
    }
    return done();
}
template <class T>
int gemv(int op, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, int64_t incx, T beta, T* y,
         int64_t incy) {
    if (op == OP_N) {
        // Down the columns of A, as it lies in memory.
        std::vector<T> sum(static_cast<size_t>(m));
        for (int64_t j = 0; j < n; ++j) {
            T factor = x[at(j, n, incx)];
            for (int64_t i = 0; i < m; ++i) sum[i] += a[j * lda + i] * factor;
        }
        for (int64_t i = 0; i < m; ++i) {
            T& to = y[at(i, m, incy)];
            to = alpha * sum[i] + (beta != T(0) ? beta * to : T(0));
        }
        return done();
    }
    auto read = [=](int64_t i, int64_t j) { return op == OP_C ? conjugate(a[i * lda + j]) : a[i * lda + j]; };
    return multiply(n, m, alpha, read, x, incx, beta, y, incy);
}
template <class T>
int gbmv(int op, int64_t m, int64_t n, int64_t kl, int64_t ku, T alpha, const T* a, int64_t lda, const T* x,
         int64_t incx, T beta, T* y, int64_t incy) {
    auto read = [=](int64_t row, int64_t column) {
        int64_t i = op == OP_N ? row : column, j = op == OP_N ? column : row;
        T value = i - j <= kl && j - i <= ku ? a[j * lda + ku + i - j] : T(0);
        return op == OP_C ? conjugate(value) : value;
    };
    return multiply(op == OP_N ? m : n, op == OP_N ? n : m, alpha, read, x, incx, beta, y, incy);
}

// y = alpha A x + beta y for a symmetric or Hermitian matrix of which one triangle, of k diagonals, is stored.
template <bool Hermitian, class T, class Stored>
int symmetric(int fill, int64_t n, int64_t k, T alpha, Stored stored, const T* x, int64_t incx, T beta, T* y,
              int64_t incy) {
    auto read = [=](int64_t i, int64_t j) {
        if (i - j > k || j - i > k) return T(0);
        if (i == j) return Hermitian ? T(std::real(stored(i, i))) : T(stored(i, i));
        bool inside = fill == UPPER ? i < j : i > j;
        T value = inside ? stored(i, j) : stored(j, i);
        return Hermitian && !inside ? conjugate(value) : value;
    };
    return multiply(n, n, alpha, read, x, incx, beta, y, incy);
}

// Element (i, j) of op(A) for a triangular matrix of k diagonals next to the main one.
template <class T, class Stored>
auto triangle(int fill, int op, int unit, int64_t k, Stored stored) {
    return [=](int64_t row, int64_t column) {
        int64_t i = op == OP_N ? row : column, j = op == OP_N ? column : row;
        if (i == j && unit) return T(1);
        if (fill == UPPER ? i > j || j - i > k : i < j || i - j > k) return T(0);
        T value = stored(i, j);
        return op == OP_C ? conjugate(value) : value;
    };
}
template <class T, class Read>
int triangular_multiply(int64_t n, Read read, T* x, int64_t incx) {
    std::vector<T> result(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) result[i] += read(i, j) * x[at(j, n, incx)];
    for (int64_t i = 0; i < n; ++i) x[at(i, n, incx)] = result[i];
    return done();
}
// Substitution from the end of op(A) where one unknown is left.
template <class T, class Read>
int triangular_solve(bool upper, int64_t n, Read read, T* x, int64_t incx) {
    for (int64_t step = 0; step < n; ++step) {
        int64_t i = upper ? n - 1 - step : step;
        T sum = x[at(i, n, incx)];
        for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) sum -= read(i, j) * x[at(j, n, incx)];
        x[at(i, n, incx)] = sum / read(i, i);
    }
    return done();
}

template <bool Conjugated, class T>
int ger(int64_t m, int64_t n, T alpha, const T* x, int64_t incx, const T* y, int64_t incy, T* a, int64_t lda) {
    for (int64_t j = 0; j < n; ++j) {
        T right = y[at(j, n, incy)], factor = alpha * (Conjugated ? conjugate(right) : right);
        for (int64_t i = 0; i < m; ++i) a[j * lda + i] += x[at(i, m, incx)] * factor;
    }
    return done();
}
// Adds term(i, j) to the stored triangle; the diagonal of a Hermitian matrix stays real.
template <bool Hermitian, class T, class Stored, class Term>
int update(int fill, int64_t n, Stored stored, Term term) {
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = fill == UPPER ? 0 : j; i < (fill == UPPER ? j + 1 : n); ++i) {
            T& to = stored(i, j);
            to += term(i, j);
            if (Hermitian && i == j) to = T(std::real(to));
        }
    return done();
}
template <bool Hermitian, class T, class S, class Stored>
int rank_one(int fill, int64_t n, S alpha, const T* x, int64_t incx, Stored stored) {
    return update<Hermitian, T>(fill, n, stored, [=](int64_t i, int64_t j) {
        T right = x[at(j, n, incx)];
        return alpha * x[at(i, n, incx)] * (Hermitian ? conjugate(right) : right);
    });
}
template <bool Hermitian, class T, class Stored>
int rank_two(int fill, int64_t n, T alpha, const T* x, int64_t incx, const T* y, int64_t incy, Stored stored) {
    auto other = [](T value) { return Hermitian ? conjugate(value) : value; };
    return update<Hermitian, T>(fill, n, stored, [=](int64_t i, int64_t j) {
        return alpha * x[at(i, n, incx)] * other(y[at(j, n, incy)]) +
               other(alpha) * y[at(i, n, incy)] * other(x[at(j, n, incx)]);
    });
}
bool solves_upwards(int fill, int op) { return (fill == UPPER) == (op == OP_N); }

}  // namespace

#define GEMV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int op, I m, I n, const T* alpha, const T* a, I lda, const T* x, I incx,             \
                           const T* beta, T* y, I incy) {                                                              \
        return gemv(op, m, n, *alpha, a, lda, x, incx, *beta, y, incy);                                                \
    }
#define GBMV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int op, I m, I n, I kl, I ku, const T* alpha, const T* a, I lda, const T* x, I incx, \
                           const T* beta, T* y, I incy) {                                                              \
        return gbmv(op, m, n, kl, ku, *alpha, a, lda, x, incx, *beta, y, incy);                                        \
    }
#define GEMV_BATCHED(name, I, T)                                                                                       \
    MEMSIM_EXPORT int name(void*, int op, I m, I n, const T* alpha, const T* const a[], I lda, const T* const x[],     \
                           I incx, const T* beta, T* const y[], I incy, I count) {                                     \
        for (I i = 0; i < count; ++i) gemv(op, m, n, *alpha, a[i], lda, x[i], incx, *beta, y[i], incy);                \
        return SUCCESS;                                                                                                \
    }
#define GEMV_STRIDED(name, I, T)                                                                                       \
    MEMSIM_EXPORT int name(void*, int op, I m, I n, const T* alpha, const T* a, I lda, long long a_step, const T* x,   \
                           I incx, long long x_step, const T* beta, T* y, I incy, long long y_step, I count) {         \
        for (I i = 0; i < count; ++i)                                                                                  \
            gemv(op, m, n, *alpha, a + i * a_step, lda, x + i * x_step, incx, *beta, y + i * y_step, incy);            \
        return SUCCESS;                                                                                                \
    }
#define SYMV_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* a, I lda, const T* x, I incx, const T* beta, \
                           T* y, I incy) {                                                                             \
        return symmetric<hermitian>(fill, n, n, *alpha, full(a, lda), x, incx, *beta, y, incy);                        \
    }
#define SBMV_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int fill, I n, I k, const T* alpha, const T* a, I lda, const T* x, I incx,           \
                           const T* beta, T* y, I incy) {                                                              \
        return symmetric<hermitian>(fill, n, k, *alpha, band(a, lda, fill, k), x, incx, *beta, y, incy);               \
    }
#define SPMV_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* a, const T* x, I incx, const T* beta, T* y,  \
                           I incy) {                                                                                   \
        return symmetric<hermitian>(fill, n, n, *alpha, packed(a, n, fill), x, incx, *beta, y, incy);                  \
    }
#define SYMV(name, I, T) SYMV_AS(name, I, T, false)
#define HEMV(name, I, T) SYMV_AS(name, I, T, true)
#define SBMV(name, I, T) SBMV_AS(name, I, T, false)
#define HBMV(name, I, T) SBMV_AS(name, I, T, true)
#define SPMV(name, I, T) SPMV_AS(name, I, T, false)
#define HPMV(name, I, T) SPMV_AS(name, I, T, true)
#define TRMV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, const T* a, I lda, T* x, I incx) {                  \
        return triangular_multiply<T>(n, triangle<T>(fill, op, unit, n, full(a, lda)), x, incx);                       \
    }
#define TRSV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, const T* a, I lda, T* x, I incx) {                  \
        return triangular_solve<T>(solves_upwards(fill, op), n, triangle<T>(fill, op, unit, n, full(a, lda)), x, incx); \
    }
#define TBMV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, I k, const T* a, I lda, T* x, I incx) {             \
        return triangular_multiply<T>(n, triangle<T>(fill, op, unit, k, band(a, lda, fill, k)), x, incx);              \
    }
#define TBSV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, I k, const T* a, I lda, T* x, I incx) {             \
        return triangular_solve<T>(solves_upwards(fill, op), n,                                                        \
                                   triangle<T>(fill, op, unit, k, band(a, lda, fill, k)), x, incx);                    \
    }
#define TPMV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, const T* a, T* x, I incx) {                         \
        return triangular_multiply<T>(n, triangle<T>(fill, op, unit, n, packed(a, n, fill)), x, incx);                 \
    }
#define TPSV(name, I, T)                                                                                               \
    MEMSIM_EXPORT int name(void*, int fill, int op, int unit, I n, const T* a, T* x, I incx) {                         \
        return triangular_solve<T>(solves_upwards(fill, op), n,                                                        \
                                   triangle<T>(fill, op, unit, n, packed(a, n, fill)), x, incx);                       \
    }
#define GER_AS(name, I, T, conjugated)                                                                                 \
    MEMSIM_EXPORT int name(void*, I m, I n, const T* alpha, const T* x, I incx, const T* y, I incy, T* a, I lda) {     \
        return ger<conjugated>(m, n, *alpha, x, incx, y, incy, a, lda);                                                \
    }
#define GER(name, I, T) GER_AS(name, I, T, false)
#define GERC(name, I, T) GER_AS(name, I, T, true)
#define SYR(name, I, T)                                                                                                \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* x, I incx, T* a, I lda) {                    \
        return rank_one<false, T>(fill, n, *alpha, x, incx, full(a, lda));                                             \
    }
#define HER(name, I, T)                                                                                                \
    MEMSIM_EXPORT int name(void*, int fill, I n, const Real<T>* alpha, const T* x, I incx, T* a, I lda) {              \
        return rank_one<true, T>(fill, n, *alpha, x, incx, full(a, lda));                                              \
    }
#define SPR(name, I, T)                                                                                                \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* x, I incx, T* a) {                           \
        return rank_one<false, T>(fill, n, *alpha, x, incx, packed(a, n, fill));                                       \
    }
#define HPR(name, I, T)                                                                                                \
    MEMSIM_EXPORT int name(void*, int fill, I n, const Real<T>* alpha, const T* x, I incx, T* a) {                     \
        return rank_one<true, T>(fill, n, *alpha, x, incx, packed(a, n, fill));                                        \
    }
#define SYR2_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* x, I incx, const T* y, I incy, T* a, I lda) { \
        return rank_two<hermitian>(fill, n, *alpha, x, incx, y, incy, full(a, lda));                                   \
    }
#define SPR2_AS(name, I, T, hermitian)                                                                                 \
    MEMSIM_EXPORT int name(void*, int fill, I n, const T* alpha, const T* x, I incx, const T* y, I incy, T* a) {       \
        return rank_two<hermitian>(fill, n, *alpha, x, incx, y, incy, packed(a, n, fill));                             \
    }
#define SYR2(name, I, T) SYR2_AS(name, I, T, false)
#define HER2(name, I, T) SYR2_AS(name, I, T, true)
#define SPR2(name, I, T) SPR2_AS(name, I, T, false)
#define HPR2(name, I, T) SPR2_AS(name, I, T, true)

ALL_V2(GEMV, gemv)
ALL_V2(GBMV, gbmv)
ALL_PLAIN(GEMV_BATCHED, gemvBatched)
ALL_PLAIN(GEMV_STRIDED, gemvStridedBatched)
ALL_V2(SYMV, symv)
COMPLEX_V2(HEMV, hemv)
REAL_V2(SBMV, sbmv)
COMPLEX_V2(HBMV, hbmv)
REAL_V2(SPMV, spmv)
COMPLEX_V2(HPMV, hpmv)
ALL_V2(TRMV, trmv)
ALL_V2(TRSV, trsv)
ALL_V2(TBMV, tbmv)
ALL_V2(TBSV, tbsv)
ALL_V2(TPMV, tpmv)
ALL_V2(TPSV, tpsv)
REAL_V2(GER, ger)
COMPLEX_V2(GER, geru)
COMPLEX_V2(GERC, gerc)
ALL_V2(SYR, syr)
COMPLEX_V2(HER, her)
REAL_V2(SPR, spr)
COMPLEX_V2(HPR, hpr)
ALL_V2(SYR2, syr2)
COMPLEX_V2(HER2, her2)
REAL_V2(SPR2, spr2)
COMPLEX_V2(HPR2, hpr2)

}  // namespace standin
