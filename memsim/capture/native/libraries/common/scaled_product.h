// C = alpha op(A) op(B) + beta C with types and layouts known at run time: what cuBLAS and cuBLASLt have in common.
#pragma once

#include "gemm.h"

namespace standin {

// Numbers of cublasComputeType_t ("cublasComputeType_t" in the cuBLAS documentation).
enum ComputeType { COMPUTE_16F = 64, COMPUTE_16F_PEDANTIC = 65, COMPUTE_64F = 70, COMPUTE_64F_PEDANTIC = 71,
                   COMPUTE_32I = 72, COMPUTE_32I_PEDANTIC = 73 };

// Calls compute(Tag<T>, alpha, beta) with T the type that sums are taken in. Half-precision sums are taken in single
// precision, as tensor cores do. `scale_type` is the type of alpha and beta, or -1: the one that belongs to `compute`.
template <class Compute>
bool with_compute_type(int compute, bool complex, int scale_type, const void* alpha, const void* beta, Compute&& then) {
    bool is_double = compute == COMPUTE_64F || compute == COMPUTE_64F_PEDANTIC;
    bool is_half = compute == COMPUTE_16F || compute == COMPUTE_16F_PEDANTIC;
    bool is_integer = compute == COMPUTE_32I || compute == COMPUTE_32I_PEDANTIC;
    if (scale_type < 0)
        scale_type = is_integer ? R_32I : is_half ? R_16F : is_double ? (complex ? C_64F : R_64F) : complex ? C_32F : R_32F;
    auto run = [&](auto tag) {
        using T = typename decltype(tag)::type;
        bool done = false;
        visit_type(scale_type, [&](auto scale) {
            using S = typename decltype(scale)::type;
            T factor = convert<T>(*static_cast<const S*>(alpha));
            done = then(tag, factor, beta ? convert<T>(*static_cast<const S*>(beta)) : T(0));
        });
        return done;
    };
    if (is_integer) return run(Tag<int32_t>{});
    if (is_double) return complex ? run(Tag<Complex64>{}) : run(Tag<double>{});
    return complex ? run(Tag<Complex32>{}) : run(Tag<float>{});
}

// An m x n matrix in memory that is written.
struct Result {
    void* data;
    int type;
    int64_t leading;
    bool by_rows = false;
    int64_t index(int64_t i, int64_t j) const { return by_rows ? i * leading + j : j * leading + i; }
};

inline bool is_complex(int type) { return type == C_32F || type == C_64F; }

// False: a type that is not known here. C is not read where beta is 0, as BLAS demands.
inline bool scaled_product(int compute, int64_t m, int64_t n, int64_t k, const void* alpha, const Operand& a,
                           const Operand& b, const void* beta, const Result& c, int scale_type = -1) {
    if (m <= 0 || n <= 0) return true;
    return with_compute_type(compute, is_complex(a.type), scale_type, alpha, beta, [&](auto tag, auto factor, auto keep) {
        using T = typename decltype(tag)::type;
        Dense<T> left, right;
        if (!read_operand(a, m, k, left) || !read_operand(b, k, n, right)) return false;
        Dense<T> sum = product(m, n, k, left, right);
        return visit_type(c.type, [&](auto to) {
            using To = typename decltype(to)::type;
            To* data = static_cast<To*>(c.data);
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = 0; i < m; ++i) {
                    To& place = data[c.index(i, j)];
                    T value = factor * sum[size_t(j) * m + i];
                    place = convert<To>(keep != T(0) ? value + keep * convert<T>(place) : value);
                }
        });
    });
}

}  // namespace standin
