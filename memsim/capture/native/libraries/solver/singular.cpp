// Singular values by one-sided Jacobi rotations (G. Golub and C. Van Loan, "Matrix Computations", section 8.6), and the
// functions whose types are arguments ("cuSolverDN: 64-bit API" in the cuSOLVER documentation).
#include <math.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../common/data_types.h"
#include "../common/report.h"

// dense.cpp
extern "C" int cusolverDnSsyevd(void*, int, int, int, float*, int, float*, float*, int, int*);
extern "C" int cusolverDnDsyevd(void*, int, int, int, double*, int, double*, double*, int, int*);

namespace standin {
namespace {

using Columns = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

// Rotates pairs of columns of a (and of v) until all are orthogonal: then a = u s, and the matrix is u s v^T.
void orthogonalize(Columns& a, Columns& v) {
    size_t n = a.size();
    for (int sweep = 0; sweep < 60; ++sweep) {
        bool rotated = false;
        for (size_t p = 0; p < n; ++p)
            for (size_t q = p + 1; q < n; ++q) {
                double pp = dot(a[p], a[p]), qq = dot(a[q], a[q]), pq = dot(a[p], a[q]);
                if (fabs(pq) <= 1e-15 * sqrt(pp * qq) || pq == 0) continue;
                rotated = true;
                double theta = (qq - pp) / (2 * pq);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                auto rotate = [=](std::vector<double>& x, std::vector<double>& y) {
                    for (size_t i = 0; i < x.size(); ++i) {
                        double old = x[i];
                        x[i] = c * old - s * y[i], y[i] = s * old + c * y[i];
                    }
                };
                rotate(a[p], a[q]), rotate(v[p], v[q]);
            }
        if (!rotated) return;
    }
}
// Adds unit vectors, made orthogonal to those before, until there are `wanted` columns.
void complete(Columns& u, size_t rows, size_t wanted) {
    for (size_t axis = 0; u.size() < wanted && axis < rows; ++axis) {
        std::vector<double> x(rows);
        x[axis] = 1;
        for (int again = 0; again < 2; ++again)
            for (const auto& one : u) {
                double along = dot(one, x);
                for (size_t i = 0; i < rows; ++i) x[i] -= along * one[i];
            }
        double size = sqrt(dot(x, x));
        if (size < 1e-8) continue;
        for (double& one : x) one /= size;
        u.push_back(x);
    }
}

template <class T>
int decompose(char job_u, char job_v, int64_t m, int64_t n, const T* a, int64_t lda, T* s, T* u, int64_t ldu, T* vt,
              int64_t ldvt) {
    Columns w(static_cast<size_t>(n)), v(static_cast<size_t>(n)), left;
    for (int64_t j = 0; j < n; ++j) {
        w[size_t(j)].assign(a + j * lda, a + j * lda + m);
        v[size_t(j)].assign(size_t(n), 0);
        v[size_t(j)][size_t(j)] = 1;
    }
    orthogonalize(w, v);
    std::vector<size_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return dot(w[x], w[x]) > dot(w[y], w[y]); });
    for (size_t k = 0; k < order.size(); ++k) {
        auto& column = w[order[k]];
        double size = sqrt(dot(column, column));
        s[k] = T(size);
        if (left.size() == k && size > 0) {
            for (double& one : column) one /= size;
            left.push_back(column);
        }
        for (int64_t i = 0; job_v != 'N' && i < n; ++i) vt[i * ldvt + int64_t(k)] = T(v[order[k]][size_t(i)]);
    }
    if (job_u == 'N') return 0;
    complete(left, size_t(m), size_t(job_u == 'A' ? m : n));
    for (size_t k = 0; k < left.size(); ++k)
        for (int64_t i = 0; i < m; ++i) u[int64_t(k) * ldu + i] = T(left[k][size_t(i)]);
    return 0;
}

}  // namespace

// As NVIDIA's function, for m >= n and with separate results only.
#define SINGULAR(S, T)                                                                                                 \
    MEMSIM_EXPORT int cusolverDn##S##gesvd(void*, signed char job_u, signed char job_v, int m, int n, T* a, int lda,   \
                                           T* s, T* u, int ldu, T* vt, int ldvt, T*, int, T*, int* info) {             \
        if (m < n || job_u == 'O' || job_v == 'O') return not_supported("cusolverDn" #S "gesvd (of this shape or job)"); \
        int result = decompose<T>(char(job_u), char(job_v), m, n, a, lda, s, u, ldu, vt, ldvt);                        \
        if (info) *info = result;                                                                                      \
        return count_call(), 0;                                                                                        \
    }
SINGULAR(S, float)
SINGULAR(D, double)

MEMSIM_EXPORT int cusolverDnCreateParams(void** parameters) { return *parameters = new char, 0; }
MEMSIM_EXPORT int cusolverDnDestroyParams(char* parameters) { return delete parameters, 0; }
MEMSIM_EXPORT int cusolverDnXsyevd(void*, void*, int vectors, int fill, int64_t n, int type, void* a, int64_t lda,
                                   int values_type, void* values, int, void*, size_t, void*, size_t, int* info) {
    if (type == R_32F && values_type == R_32F)
        return cusolverDnSsyevd(nullptr, vectors, fill, int(n), static_cast<float*>(a), int(lda),
                                static_cast<float*>(values), nullptr, 0, info);
    if (type == R_64F && values_type == R_64F)
        return cusolverDnDsyevd(nullptr, vectors, fill, int(n), static_cast<double*>(a), int(lda),
                                static_cast<double*>(values), nullptr, 0, info);
    return not_supported("cusolverDnXsyevd (of this type)");
}

}  // namespace standin
