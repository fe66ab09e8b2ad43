// Descriptors of matrices and vectors, and visits of their entries (cuSPARSE documentation, "cuSPARSE Storage Formats").
#pragma once

#include <stdint.h>

#include <vector>

#include "../common/data_types.h"
#include "../common/report.h"

namespace standin {

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, ZERO_PIVOT = 9, NOT_SUPPORTED = 10,
       INSUFFICIENT_RESOURCES = 11 };
enum Format { CSR = 1, CSC = 2, COO = 3, BLOCKED_ELL = 5, BSR = 6 };
enum Operation { AS_IS = 0, TRANSPOSED = 1, CONJUGATED = 2 };
enum Order { BY_COLUMNS = 1, BY_ROWS = 2 };
enum { INDEX_64 = 3 };

struct SparseMatrix {
    int format;
    int64_t rows, columns, entries;  // entries: stored numbers
    void *offsets, *indices, *values;  // COO: offsets holds the rows
    int offset_type, index_type, base, value_type;
    int64_t block_rows = 1, block_columns = 1, ell_columns = 0;
    int block_order = BY_ROWS;
    int fill = 0, diagonal = 0;  // of a triangular matrix: lower or upper, non-unit or unit
    int batch_count = 1;
    int64_t offset_stride = 0, value_stride = 0;

    SparseMatrix in_batch(int i) const;
};
struct SparseVector {
    int64_t size, entries;
    void *indices, *values;
    int index_type, base, value_type;
};
struct DenseVector {
    int64_t size;
    void* values;
    int value_type;
};
struct DenseMatrix {
    int64_t rows, columns, leading;
    void* values;
    int value_type, order;
    int batch_count = 1;
    int64_t batch_stride = 0;
    int64_t index(int64_t i, int64_t j) const { return order == BY_ROWS ? i * leading + j : j * leading + i; }
};

// An array of 32-bit or 64-bit indices, counted from 0.
inline std::vector<int64_t> read_indices(const void* data, int type, int base, int64_t n) {
    std::vector<int64_t> all(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
        all[size_t(i)] = (type == INDEX_64 ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i]) - base;
    return all;
}
inline void write_index(void* data, int type, int64_t i, int64_t value) {
    if (type == INDEX_64) static_cast<int64_t*>(data)[i] = value;
    else static_cast<int32_t*>(data)[i] = int32_t(value);
}

// A stored entry: where it is in the matrix, and where in the array of values.
struct Entry {
    int64_t row, column, place;
};
std::vector<Entry> entries_of(const SparseMatrix& matrix);  // in the order of storage

// Sums are taken in double precision.
template <class T> struct WideOf { using type = double; };
template <class R> struct WideOf<std::complex<R>> { using type = Complex64; };
template <class T> using Wide = typename WideOf<T>::type;

template <class W>
W scalar_of(const void* pointer, int type) {
    W value{};
    visit_type(type, [&](auto tag) { value = convert<W>(*static_cast<const typename decltype(tag)::type*>(pointer)); });
    return value;
}

// Calls compute(Tag<wide type>) with double, or complex of it.
template <class Compute>
int with_wide(int compute_type, Compute&& compute) {
    return compute_type == C_32F || compute_type == C_64F ? compute(Tag<Complex64>{}) : compute(Tag<double>{});
}

// All elements of an array of any type as W, and back.
template <class W>
struct Elements {
    void* data;
    int type;
    W get(int64_t i) const {
        W value{};
        visit_type(type, [&](auto tag) { value = convert<W>(static_cast<const typename decltype(tag)::type*>(data)[i]); });
        return value;
    }
    void set(int64_t i, W value) const {
        visit_type(type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            static_cast<T*>(data)[i] = convert<T>(value);
        });
    }
};

}  // namespace standin
