// Factorizations, solves and eigenvalues of dense matrices (cuSOLVER documentation, "cuSolverDN: dense LAPACK Function
// Reference"). Matrices lie column by column; `info` is LAPACK's.
#include <math.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../common/factor.h"
#include "../common/report.h"

namespace standin {
namespace {

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, NOT_SUPPORTED = 9 };
enum { UPPER = 1, LEFT = 0 };

struct Handle {
    void* stream = nullptr;
};

// Solves A X = B with the factor that potrf left in one triangle.
template <class T>
void solve_cholesky(bool upper, int64_t n, int64_t columns, const T* a, int64_t lda, T* b, int64_t ldb) {
    auto value = [=](int64_t i, int64_t j) { return upper ? conjugate(a[i * lda + j]) : a[j * lda + i]; };  // of L
    for (int64_t c = 0; c < columns; ++c) {
        T* x = b + c * ldb;
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < i; ++j) x[i] -= value(i, j) * x[j];
            x[i] /= value(i, i);
        }
        for (int64_t i = n - 1; i >= 0; --i) {
            for (int64_t j = i + 1; j < n; ++j) x[i] -= conjugate(value(j, i)) * x[j];
            x[i] /= value(i, i);
        }
    }
}

// C = H C (or C H) for the reflection H = 1 - tau v v^H, v = (0 ... 0, 1, below the diagonal of column l).
template <class T>
void reflect(bool left, int64_t m, int64_t n, int64_t l, const T* a, int64_t lda, T tau, T* c, int64_t ldc) {
    auto v = [=](int64_t i) { return i < l ? T(0) : i == l ? T(1) : a[l * lda + i]; };
    int64_t lines = left ? n : m, length = left ? m : n;
    for (int64_t line = 0; line < lines; ++line) {
        auto element = [=](int64_t i) -> T& { return left ? c[line * ldc + i] : c[i * ldc + line]; };
        T sum{};
        for (int64_t i = l; i < length; ++i) sum += (left ? conjugate(v(i)) : v(i)) * element(i);
        for (int64_t i = l; i < length; ++i) element(i) -= tau * sum * (left ? v(i) : conjugate(v(i)));
    }
}
// Q = H(0) H(1) ... H(k-1), of which op(Q) multiplies C from one side.
template <class T>
void multiply_q(bool left, bool transposed, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* tau, T* c,
                int64_t ldc) {
    bool ascending = left == transposed;
    for (int64_t step = 0; step < k; ++step) {
        int64_t l = ascending ? step : k - 1 - step;
        reflect(left, m, n, l, a, lda, transposed ? conjugate(tau[l]) : tau[l], c, ldc);
    }
}
template <class T>
void form_q(int64_t m, int64_t n, int64_t k, T* a, int64_t lda, const T* tau) {
    std::vector<T> q(size_t(m * n));
    for (int64_t j = 0; j < n; ++j) q[size_t(j * m + j)] = 1;
    multiply_q(true, false, m, n, k, a, lda, tau, q.data(), m);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) a[j * lda + i] = q[size_t(j * m + i)];
}

// Eigenvalues in ascending order by Jacobi's rotations (G. Golub and C. Van Loan, "Matrix Computations", section 8.5).
template <class T>
int eigen(bool vectors, bool upper, int64_t n, T* a, int64_t lda, T* values) {
    std::vector<double> s(size_t(n * n)), q(size_t(n * n));
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) {
            bool stored = upper ? i <= j : i >= j;
            s[size_t(j * n + i)] = double(stored ? a[j * lda + i] : a[i * lda + j]);
            q[size_t(j * n + i)] = i == j;
        }
    for (int sweep = 0; sweep < 60; ++sweep) {
        double outside = 0, inside = 0;
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < n; ++i) (i == j ? inside : outside) += s[size_t(j * n + i)] * s[size_t(j * n + i)];
        if (outside <= 1e-30 * (inside + outside)) break;
        for (int64_t p = 0; p < n; ++p)
            for (int64_t r = p + 1; r < n; ++r) {
                double between = s[size_t(r * n + p)];
                if (between == 0) continue;
                double theta = (s[size_t(r * n + r)] - s[size_t(p * n + p)]) / (2 * between);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), sine = t * c;
                auto rotate = [&](double& x, double& y) {
                    double old = x;
                    x = c * old - sine * y, y = sine * old + c * y;
                };
                for (int64_t i = 0; i < n; ++i) rotate(s[size_t(p * n + i)], s[size_t(r * n + i)]);
                for (int64_t i = 0; i < n; ++i) rotate(s[size_t(i * n + p)], s[size_t(i * n + r)]);
                for (int64_t i = 0; i < n; ++i) rotate(q[size_t(p * n + i)], q[size_t(r * n + i)]);
            }
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return s[size_t(x * n + x)] < s[size_t(y * n + y)]; });
    for (int64_t j = 0; j < n; ++j) {
        values[j] = T(s[size_t(order[size_t(j)] * n + order[size_t(j)])]);
        for (int64_t i = 0; vectors && i < n; ++i) a[j * lda + i] = T(q[size_t(order[size_t(j)] * n + i)]);
    }
    return 0;
}
int finish(int* info, int value) {
    if (info) *info = value;
    return count_call(), SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int cusolverDnCreate(Handle** handle) { return *handle = new Handle, SUCCESS; }
MEMSIM_EXPORT int cusolverDnDestroy(Handle* handle) { return delete handle, SUCCESS; }
MEMSIM_EXPORT int cusolverDnSetStream(Handle* handle, void* stream) { return handle->stream = stream, SUCCESS; }
MEMSIM_EXPORT int cusolverDnGetStream(Handle* handle, void** stream) { return *stream = handle->stream, SUCCESS; }
MEMSIM_EXPORT int cusolverGetVersion(int* version) { return *version = 12000, SUCCESS; }
MEMSIM_EXPORT int cusolverGetProperty(int type, int* value) { return *value = type == 0 ? 12 : 0, SUCCESS; }

#define DENSE(S, T, Q)                                                                                                 \
    MEMSIM_EXPORT int cusolverDn##S##potrf(Handle*, int fill, int n, T* a, int lda, T*, int, int* info) {              \
        return finish(info, factor_cholesky(fill == UPPER, n, a, lda));                                                \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##potrs(Handle*, int fill, int n, int columns, const T* a, int lda, T* b, int ldb,  \
                                           int* info) {                                                                \
        return solve_cholesky(fill == UPPER, n, columns, a, lda, b, ldb), finish(info, 0);                             \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##potrfBatched(Handle*, int fill, int n, T* a[], int lda, int* info, int count) {   \
        for (int i = 0; i < count; ++i) info[i] = factor_cholesky(fill == UPPER, n, a[i], lda);                        \
        return count_call(), SUCCESS;                                                                                  \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##getrf(Handle*, int m, int n, T* a, int lda, T*, int* pivots, int* info) {         \
        return finish(info, factor_lu(m, n, a, lda, pivots));                                                          \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##getrs(Handle*, int op, int n, int columns, const T* a, int lda,                   \
                                           const int* pivots, T* b, int ldb, int* info) {                              \
        return solve_lu(op, n, columns, a, lda, pivots, b, ldb), finish(info, 0);                                      \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##geqrf(Handle*, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {         \
        return factor_qr(m, n, a, lda, tau), finish(info, 0);                                                          \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##Q##gqr(Handle*, int m, int n, int k, T* a, int lda, const T* tau, T*, int,        \
                                            int* info) {                                                               \
        return form_q(m, n, k, a, lda, tau), finish(info, 0);                                                          \
    }                                                                                                                  \
    MEMSIM_EXPORT int cusolverDn##S##Q##mqr(Handle*, int side, int op, int m, int n, int k, const T* a, int lda,       \
                                            const T* tau, T* c, int ldc, T*, int, int* info) {                         \
        return multiply_q(side == LEFT, op != 0, m, n, k, a, lda, tau, c, ldc), finish(info, 0);                       \
    }
DENSE(S, float, or)
DENSE(D, double, or)
DENSE(C, Complex32, un)
DENSE(Z, Complex64, un)

#define EIGEN(S, T)                                                                                                    \
    MEMSIM_EXPORT int cusolverDn##S##syevd(void*, int vectors, int fill, int n, T* a, int lda, T* values, T*, int,   \
                                           int* info) {                                                                \
        return finish(info, eigen(vectors != 0, fill == UPPER, n, a, lda, values));                                    \
    }
EIGEN(S, float)
EIGEN(D, double)

}  // namespace standin
