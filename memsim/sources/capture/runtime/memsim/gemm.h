// Matrix products of cuBLAS on the host, by its definition: C = alpha op(A) op(B) + beta C, matrices column by column
// (cuBLAS documentation, "cublas<t>gemm()"). The operands are read into matrices of the type that is computed with.
#pragma once

#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "library_calls.h"
#include "library_types.h"

namespace memsim_probe {

// What stands at an index of an array whose type is known when the program runs; false: of no such type.
template <class T>
bool read_number(const void* array, cudaDataType type, size_t index, T& value) {
    switch (type) {
        case CUDA_R_32F: return value = T(static_cast<const float*>(array)[index]), true;
        case CUDA_R_64F: return value = T(static_cast<const double*>(array)[index]), true;
        case CUDA_R_16F: return value = T(float(static_cast<const __half*>(array)[index])), true;
        case CUDA_R_16BF: return value = T(float(static_cast<const __nv_bfloat16*>(array)[index])), true;
        case CUDA_R_8I: return value = T(static_cast<const signed char*>(array)[index]), true;
        case CUDA_R_32I: return value = T(static_cast<const int*>(array)[index]), true;
        default: return false;
    }
}
template <class T>
bool write_number(void* array, cudaDataType type, size_t index, T value) {
    switch (type) {
        case CUDA_R_32F: return static_cast<float*>(array)[index] = float(value), true;
        case CUDA_R_64F: return static_cast<double*>(array)[index] = double(value), true;
        case CUDA_R_16F: return static_cast<__half*>(array)[index] = __half(float(value)), true;
        case CUDA_R_16BF: return static_cast<__nv_bfloat16*>(array)[index] = __nv_bfloat16(float(value)), true;
        case CUDA_R_32I: return static_cast<int*>(array)[index] = int(value), true;
        default: return false;
    }
}

struct Matrix {
    const void* data;
    cudaDataType type;
    long long leading;
    bool transposed;

    // The matrix as it takes part, column by column; false: of a type that is not known here.
    template <class T>
    bool read(int rows, int columns, std::vector<T>& to) const {
        to.resize(size_t(rows) * columns);
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i)
                if (!read_number(data, type, transposed ? i * leading + j : j * leading + i, to[size_t(j) * rows + i]))
                    return false;
        return true;
    }
};

// sum[0:m] of one column; the loop that takes the time.
template <class T>
__attribute__((optimize("O3"))) inline void add_column(int m, T factor, const T* column, T* sum) {
    for (int i = 0; i < m; ++i) sum[i] += factor * column[i];
}

// False: a type that is not known here.
template <class T>
bool gemm(int m, int n, int k, T alpha, const Matrix& a, const Matrix& b, T beta, void* c, cudaDataType c_type,
          long long c_leading) {
    std::vector<T> left, right, sum(m);
    if (!a.read(m, k, left) || !b.read(k, n, right)) return false;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) sum[i] = 0;
        for (int l = 0; l < k; ++l) add_column(m, right[size_t(j) * k + l], &left[size_t(l) * m], sum.data());
        for (int i = 0; i < m; ++i) {
            size_t index = size_t(j) * c_leading + i;
            T before{};
            if (beta != T(0) && !read_number(c, c_type, index, before)) return false;
            if (!write_number(c, c_type, index, alpha * sum[i] + (beta != T(0) ? beta * before : T(0)))) return false;
        }
    }
    return true;
}

}  // namespace memsim_probe
