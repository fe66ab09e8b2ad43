// Dense products of matrices, the one loop of the stand-in libraries that takes time.
//
// The sum over k runs in the same order whatever instructions the host has, and no multiplication is fused with an
// addition (-ffp-contract=off): a program computes the same bits on every host, so its trace is reproducible.
#pragma once

#include <stdint.h>

#include <vector>

#include "data_types.h"

namespace standin {

// sum[j * m + i] += sign * sum over l of a(i, l) b(l, j), for matrices of one column after another without padding.
void multiply_add(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* sum, int sign);
void multiply_add(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* sum, int sign);
void multiply_add(int64_t m, int64_t n, int64_t k, const int32_t* a, const int32_t* b, int32_t* sum, int sign);

template <class T>
using Dense = std::vector<T>;

// Element (i, j) of a matrix as read(i, j), written out column by column.
template <class T, class Read>
Dense<T> gather(int64_t rows, int64_t columns, Read&& read) {
    Dense<T> matrix(size_t(rows) * columns);
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) matrix[size_t(j) * rows + i] = read(i, j);
    return matrix;
}

// The product of an m x k and a k x n matrix.
template <class T>
Dense<T> product(int64_t m, int64_t n, int64_t k, const Dense<T>& a, const Dense<T>& b) {
    Dense<T> sum(size_t(m) * n);
    multiply_add(m, n, k, a.data(), b.data(), sum.data(), 1);
    return sum;
}

// A complex product is four real ones of the planes.
template <class R>
Dense<std::complex<R>> product(int64_t m, int64_t n, int64_t k, const Dense<std::complex<R>>& a,
                               const Dense<std::complex<R>>& b) {
    auto plane = [](const Dense<std::complex<R>>& from, bool imaginary) {
        Dense<R> to(from.size());
        for (size_t i = 0; i < from.size(); ++i) to[i] = imaginary ? from[i].imag() : from[i].real();
        return to;
    };
    Dense<R> ar = plane(a, false), ai = plane(a, true), br = plane(b, false), bi = plane(b, true);
    Dense<R> real(size_t(m) * n), imaginary(size_t(m) * n);
    multiply_add(m, n, k, ar.data(), br.data(), real.data(), 1);
    multiply_add(m, n, k, ai.data(), bi.data(), real.data(), -1);
    multiply_add(m, n, k, ar.data(), bi.data(), imaginary.data(), 1);
    multiply_add(m, n, k, ai.data(), br.data(), imaginary.data(), 1);
    Dense<std::complex<R>> sum(real.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = {real[i], imaginary[i]};
    return sum;
}

// A matrix in memory as an operand, column by column: operation 0 as it is, 1 transposed, 2 conjugated and transposed.
struct Operand {
    const void* data;
    int type;
    int64_t leading;
    int operation;
    bool by_rows = false;  // cuBLASLt's CUBLASLT_ORDER_ROW
};

// Reads rows x columns of op(A) as T. False: a type that is not known here.
template <class T>
bool read_operand(const Operand& from, int64_t rows, int64_t columns, Dense<T>& to) {
    return visit_type(from.type, [&](auto tag) {
        using From = typename decltype(tag)::type;
        const From* data = static_cast<const From*>(from.data);
        bool swapped = (from.operation != 0) != from.by_rows;
        to.resize(size_t(rows) * columns);
        for (int64_t j = 0; j < columns; ++j)
            for (int64_t i = 0; i < rows; ++i) {
                T value = convert<T>(data[swapped ? i * from.leading + j : j * from.leading + i]);
                to[size_t(j) * rows + i] = from.operation == 2 ? conjugate(value) : value;
            }
    });
}

}  // namespace standin
