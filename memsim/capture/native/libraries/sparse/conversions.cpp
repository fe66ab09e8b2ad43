// Conversions between formats, operations on sparse vectors, and incomplete factors (cuSPARSE documentation, "cuSPARSE
// Generic APIs", "cuSPARSE Reordering and Format Conversion", "Preconditioners").
#include <string.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "descriptors.h"

namespace standin {
namespace {

// Writes the non-zero elements of a dense matrix into a sparse one; first only their number.
int count_nonzero(const DenseMatrix& a, SparseMatrix* b) {
    Elements<Complex64> from{a.values, a.value_type};
    int64_t n = 0;
    int64_t lines = b->format == CSC ? a.columns : a.rows, length = b->format == CSC ? a.rows : a.columns;
    for (int64_t line = 0; line < lines; ++line) {
        if (b->format != COO) write_index(b->offsets, b->offset_type, line, n + b->base);
        for (int64_t k = 0; k < length; ++k) n += from.get(b->format == CSC ? a.index(k, line) : a.index(line, k)) != 0.0;
    }
    if (b->format != COO) write_index(b->offsets, b->offset_type, lines, n + b->base);
    return b->entries = n, SUCCESS;
}
int write_nonzero(const DenseMatrix& a, SparseMatrix* b) {
    Elements<Complex64> from{a.values, a.value_type}, to{b->values, b->value_type};
    int64_t at = 0, lines = b->format == CSC ? a.columns : a.rows, length = b->format == CSC ? a.rows : a.columns;
    for (int64_t line = 0; line < lines; ++line)
        for (int64_t k = 0; k < length; ++k) {
            Complex64 value = from.get(b->format == CSC ? a.index(k, line) : a.index(line, k));
            if (value == 0.0) continue;
            if (b->format == COO) write_index(b->offsets, b->index_type, at, line + b->base);
            write_index(b->indices, b->index_type, at, k + b->base);
            to.set(at++, value);
        }
    return count_call(), SUCCESS;
}
std::vector<int64_t> indices_of(const SparseVector& v) {
    return read_indices(v.indices, v.index_type, v.base, v.entries);
}

// cusparseMatDescr_t, as descriptors.cpp makes it.
struct Kind {
    int type, fill, diagonal, base;
};
// A = L U within A's own entries, rows in ascending order of columns (incomplete factorization of level 0).
template <class T>
int factor_ilu0(int m, const Kind* kind, T* values, const int* offsets, const int* columns) {
    int base = kind->base;
    std::vector<int> place(static_cast<size_t>(m), -1);
    auto diagonal = [&](int row) {
        for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k)
            if (columns[k] - base == row) return k;
        return -1;
    };
    for (int i = 0; i < m; ++i) {
        int begin = offsets[i] - base, end = offsets[i + 1] - base;
        for (int k = begin; k < end; ++k) place[size_t(columns[k] - base)] = k;
        for (int k = begin; k < end && columns[k] - base < i; ++k) {
            int row = columns[k] - base, pivot = diagonal(row);
            if (pivot < 0 || values[pivot] == T(0)) continue;
            values[k] /= values[pivot];
            for (int l = pivot + 1; l < offsets[row + 1] - base; ++l) {
                int to = place[size_t(columns[l] - base)];
                if (to >= 0) values[to] -= values[k] * values[l];
            }
        }
        for (int k = begin; k < end; ++k) place[size_t(columns[k] - base)] = -1;
    }
    return count_call(), SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int cusparseSparseToDense(void*, const SparseMatrix* a, DenseMatrix* b, int, void*) {
    Elements<Complex64> from{a->values, a->value_type}, to{b->values, b->value_type};
    for (int64_t i = 0; i < b->rows; ++i)
        for (int64_t j = 0; j < b->columns; ++j) to.set(b->index(i, j), 0);
    for (const Entry& one : entries_of(*a)) to.set(b->index(one.row, one.column), from.get(one.place));
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseDenseToSparse_analysis(void*, const DenseMatrix* a, SparseMatrix* b, int, void*) {
    if (b->format == BSR) return not_supported("cusparseDenseToSparse (to blocks)");
    return b->format == BLOCKED_ELL ? SUCCESS : count_nonzero(*a, b);
}
MEMSIM_EXPORT int cusparseDenseToSparse_convert(void*, const DenseMatrix* a, SparseMatrix* b, int, void*) {
    if (b->format != BLOCKED_ELL) return write_nonzero(*a, b);
    // The blocks are given; their elements are copied.
    Elements<Complex64> from{a->values, a->value_type}, to{b->values, b->value_type};
    for (const Entry& one : entries_of(*b)) to.set(one.place, from.get(a->index(one.row, one.column)));
    return count_call(), SUCCESS;
}

MEMSIM_EXPORT int cusparseSpVV(void*, int operation, const SparseVector* x, const DenseVector* y, void* result,
                               int compute, void*) {
    Elements<Complex64> left{x->values, x->value_type}, right{y->values, y->value_type}, to{result, compute};
    Complex64 sum = 0;
    std::vector<int64_t> places = indices_of(*x);
    for (int64_t k = 0; k < x->entries; ++k) {
        Complex64 value = left.get(k);
        sum += (operation == CONJUGATED ? std::conj(value) : value) * right.get(places[size_t(k)]);
    }
    return to.set(0, sum), count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseAxpby(void*, const void* alpha, const SparseVector* x, const void* beta, DenseVector* y) {
    Elements<Complex64> from{x->values, x->value_type}, to{y->values, y->value_type};
    int type = y->value_type == R_16F || y->value_type == R_16BF ? int(R_32F) : y->value_type;
    Complex64 factor = scalar_of<Complex64>(alpha, type), keep = scalar_of<Complex64>(beta, type);
    for (int64_t i = 0; i < y->size; ++i) to.set(i, keep * to.get(i));
    std::vector<int64_t> places = indices_of(*x);
    for (int64_t k = 0; k < x->entries; ++k) to.set(places[size_t(k)], to.get(places[size_t(k)]) + factor * from.get(k));
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseGather(void*, const DenseVector* y, SparseVector* x) {
    Elements<Complex64> from{y->values, y->value_type}, to{x->values, x->value_type};
    std::vector<int64_t> places = indices_of(*x);
    for (int64_t k = 0; k < x->entries; ++k) to.set(k, from.get(places[size_t(k)]));
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseScatter(void*, const SparseVector* x, DenseVector* y) {
    Elements<Complex64> from{x->values, x->value_type}, to{y->values, y->value_type};
    std::vector<int64_t> places = indices_of(*x);
    for (int64_t k = 0; k < x->entries; ++k) to.set(places[size_t(k)], from.get(k));
    return count_call(), SUCCESS;
}

// -- compressed rows and coordinates ---------------------------------------------------------------------------------------

MEMSIM_EXPORT int cusparseXcoo2csr(void*, const int* rows, int n, int m, int* offsets, int base) {
    std::fill(offsets, offsets + m + 1, base);
    for (int k = 0; k < n; ++k) ++offsets[rows[k] - base + 1];
    for (int i = 0; i < m; ++i) offsets[i + 1] += offsets[i] - base;
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseXcsr2coo(void*, const int* offsets, int, int m, int* rows, int base) {
    for (int i = 0; i < m; ++i) std::fill(rows + offsets[i] - base, rows + offsets[i + 1] - base, i + base);
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseCsr2cscEx2(void*, int m, int n, int entries, const void* values, const int* offsets,
                                     const int* columns, void* to, int* to_offsets, int* to_rows, int type, int action,
                                     int base, int, void*) {
    size_t bytes = bytes_of(type);
    std::fill(to_offsets, to_offsets + n + 1, base);
    for (int k = 0; k < entries; ++k) ++to_offsets[columns[k] - base + 1];
    for (int j = 0; j < n; ++j) to_offsets[j + 1] += to_offsets[j] - base;
    std::vector<int> next(to_offsets, to_offsets + n);
    for (int i = 0; i < m; ++i)
        for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k) {
            int at = next[size_t(columns[k] - base)]++ - base;
            to_rows[at] = i + base;
            if (action) memcpy(static_cast<char*>(to) + at * bytes, static_cast<const char*>(values) + k * bytes, bytes);
        }
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseCreateIdentityPermutation(void*, int n, int* p) { return std::iota(p, p + n, 0), SUCCESS; }
MEMSIM_EXPORT int cusparseXcsrsort(void*, int m, int, int, const Kind* kind, const int* offsets, int* columns, int* p,
                                   void*) {
    for (int i = 0; i < m; ++i) {
        int begin = offsets[i] - kind->base, n = offsets[i + 1] - offsets[i];
        std::vector<int> order(static_cast<size_t>(n)), old(columns + begin, columns + begin + n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return old[size_t(a)] < old[size_t(b)]; });
        std::vector<int> old_p;
        if (p) old_p.assign(p + begin, p + begin + n);
        for (int k = 0; k < n; ++k) {
            columns[begin + k] = old[size_t(order[size_t(k)])];
            if (p) p[begin + k] = old_p[size_t(order[size_t(k)])];
        }
    }
    return count_call(), SUCCESS;
}

#define ILU(S, T)                                                                                                      \
    MEMSIM_EXPORT int cusparse##S##csrilu02(void*, int m, int, const Kind* kind, T* values, const int* offsets,        \
                                            const int* columns, void*, int, void*) {                                   \
        return factor_ilu0(m, kind, values, offsets, columns);                                                         \
    }
ILU(S, float)
ILU(D, double)
ILU(C, Complex32)
ILU(Z, Complex64)
MEMSIM_EXPORT int cusparseXcsrilu02_zeroPivot(void*, void*, int* position) { return *position = -1, SUCCESS; }

}  // namespace standin
