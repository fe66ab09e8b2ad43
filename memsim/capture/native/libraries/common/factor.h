// Factorizations of dense matrices, column by column, as LAPACK defines them: getrf, potrf, geqrf.
#pragma once

#include <cmath>
#include <vector>

#include "data_types.h"

namespace standin {

// P A = L U with partial pivoting; pivots count from 1. Returns 0, or the 1-based column of the first zero pivot.
// Without a place for pivots no rows are exchanged.
template <class T, class P>
int factor_lu(int64_t m, int64_t n, T* a, int64_t lda, P* pivots) {
    int info = 0;
    for (int64_t j = 0; j < std::min(m, n); ++j) {
        int64_t best = j;
        if (pivots) {
            for (int64_t i = j + 1; i < m; ++i)
                if (magnitude1(a[j * lda + i]) > magnitude1(a[j * lda + best])) best = i;
            pivots[j] = P(best + 1);
        }
        if (a[j * lda + best] == T(0)) {
            if (!info) info = int(j + 1);
            continue;
        }
        if (best != j)
            for (int64_t l = 0; l < n; ++l) std::swap(a[l * lda + j], a[l * lda + best]);
        for (int64_t i = j + 1; i < m; ++i) a[j * lda + i] /= a[j * lda + j];
        for (int64_t l = j + 1; l < n; ++l) {
            T factor = a[l * lda + j];
            for (int64_t i = j + 1; i < m; ++i) a[l * lda + i] -= a[j * lda + i] * factor;
        }
    }
    return info;
}

// Solves op(A) X = B with the factors of factor_lu; operation 0 none, 1 transposed, 2 conjugated and transposed.
template <class T, class P>
void solve_lu(int operation, int64_t n, int64_t columns, const T* a, int64_t lda, const P* pivots, T* b, int64_t ldb) {
    auto read = [=](int64_t i, int64_t j) { return operation == 2 ? conjugate(a[j * lda + i]) : a[j * lda + i]; };
    for (int64_t c = 0; c < columns; ++c) {
        T* x = b + c * ldb;
        auto exchange = [&](int64_t i) {
            if (pivots) std::swap(x[i], x[pivots[i] - 1]);
        };
        if (operation == 0) {
            for (int64_t i = 0; i < n; ++i) exchange(i);
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = j + 1; i < n; ++i) x[i] -= read(i, j) * x[j];
            for (int64_t j = n - 1; j >= 0; --j) {
                x[j] /= read(j, j);
                for (int64_t i = 0; i < j; ++i) x[i] -= read(i, j) * x[j];
            }
        } else {
            for (int64_t j = 0; j < n; ++j) {
                for (int64_t i = 0; i < j; ++i) x[j] -= read(i, j) * x[i];
                x[j] /= read(j, j);
            }
            for (int64_t j = n - 1; j >= 0; --j)
                for (int64_t i = j + 1; i < n; ++i) x[j] -= read(i, j) * x[i];
            for (int64_t i = n - 1; i >= 0; --i) exchange(i);
        }
    }
}

// A = L L^H or U^H U, in the triangle that is stored. Returns 0, or the order of the first minor that is not positive.
template <class T>
int factor_cholesky(bool upper, int64_t n, T* a, int64_t lda) {
    // Element (i, j) of L, i >= j, also where U = L^H is stored.
    auto place = [=](int64_t i, int64_t j) -> T& { return upper ? a[i * lda + j] : a[j * lda + i]; };
    auto value = [=](int64_t i, int64_t j) { return upper ? conjugate(place(i, j)) : place(i, j); };
    for (int64_t j = 0; j < n; ++j) {
        auto diagonal = std::real(place(j, j));
        for (int64_t l = 0; l < j; ++l) diagonal -= std::norm(place(j, l));
        if (!(diagonal > 0)) return int(j + 1);
        place(j, j) = T(std::sqrt(diagonal));
        for (int64_t i = j + 1; i < n; ++i) {
            T sum = value(i, j);
            for (int64_t l = 0; l < j; ++l) sum -= value(i, l) * conjugate(value(j, l));
            sum /= place(j, j);
            place(i, j) = upper ? conjugate(sum) : sum;
        }
    }
    return 0;
}

// A = Q R by Householder reflections; their vectors stay below the diagonal, with the factors tau.
template <class T>
void factor_qr(int64_t m, int64_t n, T* a, int64_t lda, T* tau) {
    using R = Real<T>;
    for (int64_t j = 0; j < std::min(m, n); ++j) {
        T* x = a + j * lda;
        R below = 0;
        for (int64_t i = j + 1; i < m; ++i) below += std::norm(x[i]);
        T alpha = x[j];
        tau[j] = T(0);
        if (below == 0 && std::imag(alpha) == 0) continue;
        R beta = -std::copysign(std::sqrt(std::norm(alpha) + below), std::real(alpha));
        tau[j] = (T(beta) - alpha) / T(beta);
        T scale = T(1) / (alpha - T(beta));
        for (int64_t i = j + 1; i < m; ++i) x[i] *= scale;
        for (int64_t l = j + 1; l < n; ++l) {
            T* y = a + l * lda;
            T sum = y[j];
            for (int64_t i = j + 1; i < m; ++i) sum += conjugate(x[i]) * y[i];
            sum *= conjugate(tau[j]);
            y[j] -= sum;
            for (int64_t i = j + 1; i < m; ++i) y[i] -= x[i] * sum;
        }
        x[j] = T(beta);
    }
}

}  // namespace standin
