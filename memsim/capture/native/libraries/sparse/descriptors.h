// Descriptors of matrices and vectors, and visits of their entries (cuSPARSE documentation, "cuSPARSE Storage Formats").
#pragma once

#include <stdint.h>

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

template <class Visit>
void visit_index_type(int type, Visit&& visit) {
    if (type == INDEX_64) visit(Tag<int64_t>{});
    else visit(Tag<int32_t>{});
}

// Calls visit(row, column, position in the values) for each stored entry, in the order of storage.
template <class Visit>
void for_entries(const SparseMatrix& m, Visit&& visit) {
    visit_index_type(m.offset_type, [&](auto offset_tag) {
        visit_index_type(m.index_type, [&](auto index_tag) {
            auto* offsets = static_cast<const typename decltype(offset_tag)::type*>(m.offsets);
            auto* indices = static_cast<const typename decltype(index_tag)::type*>(m.indices);
            if (m.format == COO) {
                for (int64_t k = 0; k < m.entries; ++k) visit(int64_t(offsets[k]) - m.base, int64_t(indices[k]) - m.base, k);
                return;
            }
            if (m.format == BLOCKED_ELL) {
                int64_t size = m.block_rows, blocks = m.ell_columns / size;
                for (int64_t i = 0; i < m.rows; ++i)
                    for (int64_t b = 0; b < blocks; ++b) {
                        int64_t column = int64_t(indices[i / size * blocks + b]) - m.base;
                        for (int64_t j = 0; column >= 0 && j < size; ++j)
                            visit(i, column * size + j, i * m.ell_columns + b * size + j);
                    }
                return;
            }
            int64_t lines = m.format == CSC ? m.columns : m.rows / m.block_rows;
            int64_t area = m.block_rows * m.block_columns;
            for (int64_t line = 0; line < lines; ++line)
                for (int64_t k = offsets[line] - m.base; k < offsets[line + 1] - m.base; ++k) {
                    int64_t other = int64_t(indices[k]) - m.base;
                    if (m.format == CSC) visit(other, line, k);
                    else if (area == 1) visit(line, other, k);
                    else
                        for (int64_t e = 0; e < area; ++e) {
                            int64_t i = m.block_order == BY_ROWS ? e / m.block_columns : e % m.block_rows;
                            int64_t j = m.block_order == BY_ROWS ? e % m.block_columns : e / m.block_rows;
                            visit(line * m.block_rows + i, other * m.block_columns + j, k * area + e);
                        }
                }
        });
    });
}

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
