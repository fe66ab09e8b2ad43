// Batches of small factorizations ("cublas<t>getrfBatched()" and its relatives in the cuBLAS documentation).
#include <algorithm>

#include "../common/factor.h"
#include "blas.h"

namespace standin {
namespace {

// The inverse from the factors of A: A X = 1, solved column by column.
template <class T>
void invert(int64_t n, const T* factors, int64_t lda, const int* pivots, T* inverse, int64_t ldc) {
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) inverse[j * ldc + i] = T(i == j);
    solve_lu(0, n, n, factors, lda, pivots, inverse, ldc);
}
template <class T>
int invert_matrix(int64_t n, const T* a, int64_t lda, T* inverse, int64_t ldc) {
    std::vector<T> factors(static_cast<size_t>(n * n));
    std::vector<int> pivots(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) factors[j * n + i] = a[j * lda + i];
    int info = factor_lu(n, n, factors.data(), n, pivots.data());
    if (!info) invert(n, factors.data(), n, pivots.data(), inverse, ldc);
    return info;
}

}  // namespace

#define FACTORS(S, T)                                                                                                  \
    MEMSIM_EXPORT int cublas##S##getrfBatched(void*, int n, T* const a[], int lda, int* pivots, int* info, int count) { \
        for (int i = 0; i < count; ++i) info[i] = factor_lu(n, n, a[i], lda, pivots ? pivots + i * n : nullptr);       \
        return done();                                                                                                 \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublas##S##getrsBatched(void*, int op, int n, int columns, const T* const a[], int lda,          \
                                              const int* pivots, T* const b[], int ldb, int* info, int count) {        \
        for (int i = 0; i < count; ++i)                                                                                \
            solve_lu(op, n, columns, a[i], lda, pivots ? pivots + i * n : nullptr, b[i], ldb);                         \
        return *info = 0, done();                                                                                      \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublas##S##getriBatched(void*, int n, const T* const a[], int lda, const int* pivots,            \
                                              T* const c[], int ldc, int* info, int count) {                           \
        for (int i = 0; i < count; ++i) {                                                                              \
            invert(n, a[i], lda, pivots ? pivots + i * n : nullptr, c[i], ldc);                                        \
            info[i] = 0;                                                                                               \
        }                                                                                                              \
        return done();                                                                                                 \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublas##S##matinvBatched(void*, int n, const T* const a[], int lda, T* const inverse[], int ldc, \
                                               int* info, int count) {                                                 \
        for (int i = 0; i < count; ++i) info[i] = invert_matrix(n, a[i], lda, inverse[i], ldc);                        \
        return done();                                                                                                 \
    }                                                                                                                  \
    MEMSIM_EXPORT int cublas##S##geqrfBatched(void*, int m, int n, T* const a[], int lda, T* const tau[], int* info,   \
                                              int count) {                                                             \
        for (int i = 0; i < count; ++i) factor_qr(m, n, a[i], lda, tau[i]);                                            \
        return *info = 0, done();                                                                                      \
    }
FACTORS(S, float)
FACTORS(D, double)
FACTORS(C, C)
FACTORS(Z, Z)

}  // namespace standin
