// Products and triangular solves (cuSPARSE documentation, "cuSPARSE Generic APIs").
#include <algorithm>
#include <map>
#include <vector>

#include "descriptors.h"

namespace standin {
namespace {

template <class W>
W applied(W value, int operation) {
    return operation == CONJUGATED ? conjugate(value) : value;
}
template <class W>
std::vector<W> read_vector(const void* data, int type, int64_t n) {
    std::vector<W> all(static_cast<size_t>(n));
    visit_type(type, [&](auto tag) {
        auto* values = static_cast<const typename decltype(tag)::type*>(data);
        for (int64_t i = 0; i < n; ++i) all[size_t(i)] = convert<W>(values[i]);
    });
    return all;
}
// Calls visit(row, column, value) for the entries of op(A), as W. False: a type that is not known here.
template <class W, class Visit>
bool for_values(const SparseMatrix& m, int operation, Visit&& visit) {
    if (!bytes_of(m.value_type)) return false;
    std::vector<W> values = read_vector<W>(m.values, m.value_type, m.entries);
    for (const Entry& entry : entries_of(m)) {
        W value = applied(values[size_t(entry.place)], operation);
        if (operation == AS_IS) visit(entry.row, entry.column, value);
        else visit(entry.column, entry.row, value);
    }
    return true;
}

// -- triangular solves: rows of op(A) in the order in which their unknowns become known -----------------------------------

template <class W>
struct Triangle {
    std::vector<std::vector<std::pair<int64_t, W>>> rows;
    std::vector<W> diagonal;
    bool upper;

    Triangle(const SparseMatrix& m, int operation)
        : rows(size_t(m.rows)), diagonal(size_t(m.rows), W(m.diagonal ? 1 : 0)), upper((m.fill == 1) == (operation == AS_IS)) {
        for_values<W>(m, operation, [&](int64_t i, int64_t j, W value) {
            if (i == j && !m.diagonal) diagonal[size_t(i)] = value;
            else if (upper ? j > i : j < i) rows[size_t(i)].push_back({j, value});
        });
    }
    void solve(std::vector<W>& x) const {
        int64_t n = int64_t(rows.size());
        for (int64_t step = 0; step < n; ++step) {
            size_t i = size_t(upper ? n - 1 - step : step);
            for (const auto& [j, value] : rows[i]) x[i] -= value * x[size_t(j)];
            x[i] /= diagonal[i];
        }
    }
};

// -- products of sparse matrices --------------------------------------------------------------------------------------------

// The rows of C = alpha A B, kept between the calls of one product.
struct Gemm {
    std::vector<std::map<int64_t, Complex64>> rows;
    int64_t entries() const {
        int64_t n = 0;
        for (const auto& row : rows) n += int64_t(row.size());
        return n;
    }
};
void multiply(const SparseMatrix& a, const SparseMatrix& b, Complex64 alpha, Gemm& to) {
    std::vector<std::vector<std::pair<int64_t, Complex64>>> right(static_cast<size_t>(b.rows));
    for_values<Complex64>(b, AS_IS, [&](int64_t i, int64_t j, Complex64 v) { right[size_t(i)].push_back({j, v}); });
    to.rows.assign(size_t(a.rows), {});
    for_values<Complex64>(a, AS_IS, [&](int64_t i, int64_t l, Complex64 v) {
        for (const auto& [j, value] : right[size_t(l)]) to.rows[size_t(i)][j] += alpha * v * value;
    });
}

}  // namespace

MEMSIM_EXPORT int cusparseSpMV(void*, int operation, const void* alpha, const SparseMatrix* a, const DenseVector* x,
                               const void* beta, DenseVector* y, int compute, int, void*) {
    if (!a || !x || !y) return INVALID_VALUE;
    if (x->size != (operation ? a->rows : a->columns) || y->size != (operation ? a->columns : a->rows)) return INVALID_VALUE;
    return with_wide(compute, [&](auto tag) -> int {
        using W = typename decltype(tag)::type;
        W factor = scalar_of<W>(alpha, compute), keep = scalar_of<W>(beta, compute);
        std::vector<W> in = read_vector<W>(x->values, x->value_type, x->size), sum(size_t(y->size));
        if (!for_values<W>(*a, operation, [&](int64_t i, int64_t j, W v) { sum[size_t(i)] += v * in[size_t(j)]; }))
            return not_supported("cusparseSpMV (of this type)");
        Elements<W> out{y->values, y->value_type};
        for (int64_t i = 0; i < y->size; ++i)
            out.set(i, factor * sum[size_t(i)] + (keep != W(0) ? keep * out.get(i) : W(0)));
        return count_call(), SUCCESS;
    });
}

MEMSIM_EXPORT int cusparseSpMM(void*, int a_op, int b_op, const void* alpha, const SparseMatrix* a, const DenseMatrix* b,
                               const void* beta, DenseMatrix* c, int compute, int, void*) {
    if (!a || !b || !c) return INVALID_VALUE;
    return with_wide(compute, [&](auto tag) -> int {
        using W = typename decltype(tag)::type;
        W factor = scalar_of<W>(alpha, compute), keep = scalar_of<W>(beta, compute);
        int64_t m = c->rows, n = c->columns, k = a_op ? a->rows : a->columns;
        auto in_batch = [](const DenseMatrix& one, int i) {
            return static_cast<char*>(one.values) + (one.batch_count > 1 ? i : 0) * one.batch_stride * int64_t(bytes_of(one.value_type));
        };
        for (int batch = 0; batch < c->batch_count; ++batch) {
            std::vector<W> right(size_t(k * n)), sum(size_t(m * n));
            Elements<W> from{in_batch(*b, batch), b->value_type}, out{in_batch(*c, batch), c->value_type};
            for (int64_t l = 0; l < k; ++l)
                for (int64_t j = 0; j < n; ++j)
                    right[size_t(l * n + j)] = applied(from.get(b_op ? b->index(j, l) : b->index(l, j)), b_op);
            bool known = for_values<W>(a->in_batch(batch), a_op, [&](int64_t i, int64_t l, W v) {
                for (int64_t j = 0; j < n; ++j) sum[size_t(i * n + j)] += v * right[size_t(l * n + j)];
            });
            if (!known) return not_supported("cusparseSpMM (of this type)");
            for (int64_t i = 0; i < m; ++i)
                for (int64_t j = 0; j < n; ++j) {
                    int64_t to = c->index(i, j);
                    out.set(to, factor * sum[size_t(i * n + j)] + (keep != W(0) ? keep * out.get(to) : W(0)));
                }
        }
        return count_call(), SUCCESS;
    });
}

// C = alpha (op(A) op(B)) at the places of C's entries + beta C.
MEMSIM_EXPORT int cusparseSDDMM(void*, int a_op, int b_op, const void* alpha, const DenseMatrix* a,
                                const DenseMatrix* b, const void* beta, SparseMatrix* c, int compute, int, void*) {
    return with_wide(compute, [&](auto tag) -> int {
        using W = typename decltype(tag)::type;
        W factor = scalar_of<W>(alpha, compute), keep = scalar_of<W>(beta, compute);
        Elements<W> left{a->values, a->value_type}, right{b->values, b->value_type}, out{c->values, c->value_type};
        int64_t k = a_op ? a->rows : a->columns;
        for (const Entry& entry : entries_of(*c)) {
            W sum{};
            for (int64_t l = 0; l < k; ++l)
                sum += applied(left.get(a_op ? a->index(l, entry.row) : a->index(entry.row, l)), a_op) *
                       applied(right.get(b_op ? b->index(entry.column, l) : b->index(l, entry.column)), b_op);
            out.set(entry.place, factor * sum + (keep != W(0) ? keep * out.get(entry.place) : W(0)));
        }
        return count_call(), SUCCESS;
    });
}

MEMSIM_EXPORT int cusparseSpSV_solve(void*, int operation, const void* alpha, const SparseMatrix* a,
                                     const DenseVector* x, DenseVector* y, int compute, int, void*) {
    return with_wide(compute, [&](auto tag) -> int {
        using W = typename decltype(tag)::type;
        W factor = scalar_of<W>(alpha, compute);
        std::vector<W> unknown = read_vector<W>(x->values, x->value_type, x->size);
        for (W& one : unknown) one *= factor;
        Triangle<W>(*a, operation).solve(unknown);
        Elements<W> out{y->values, y->value_type};
        for (int64_t i = 0; i < y->size; ++i) out.set(i, unknown[size_t(i)]);
        return count_call(), SUCCESS;
    });
}
MEMSIM_EXPORT int cusparseSpSM_solve(void*, int a_op, int b_op, const void* alpha, const SparseMatrix* a,
                                     const DenseMatrix* b, DenseMatrix* c, int compute, int, void*) {
    return with_wide(compute, [&](auto tag) -> int {
        using W = typename decltype(tag)::type;
        W factor = scalar_of<W>(alpha, compute);
        Triangle<W> triangle(*a, a_op);
        Elements<W> in{b->values, b->value_type}, out{c->values, c->value_type};
        std::vector<W> column(size_t(c->rows));
        for (int64_t j = 0; j < c->columns; ++j) {
            for (int64_t i = 0; i < c->rows; ++i)
                column[size_t(i)] = factor * applied(in.get(b_op ? b->index(j, i) : b->index(i, j)), b_op);
            triangle.solve(column);
            for (int64_t i = 0; i < c->rows; ++i) out.set(c->index(i, j), column[size_t(i)]);
        }
        return count_call(), SUCCESS;
    });
}

// -- sparse times sparse: workEstimation and compute may be called twice, first for a size ----------------------------------

MEMSIM_EXPORT int cusparseSpGEMM_createDescr(Gemm** gemm) { return *gemm = new Gemm, SUCCESS; }
MEMSIM_EXPORT int cusparseSpGEMM_destroyDescr(Gemm* gemm) { return delete gemm, SUCCESS; }
MEMSIM_EXPORT int cusparseSpGEMM_compute(void*, int a_op, int b_op, const void* alpha, const SparseMatrix* a,
                                         const SparseMatrix* b, const void*, SparseMatrix* c, int compute, int,
                                         Gemm* gemm, size_t* bytes, void* buffer) {
    if (a_op || b_op) return NOT_SUPPORTED;  // as in NVIDIA's library
    *bytes = 16;
    if (!buffer) return SUCCESS;
    multiply(*a, *b, scalar_of<Complex64>(alpha, compute), *gemm);
    c->rows = a->rows, c->columns = b->columns, c->entries = gemm->entries();
    return count_call(), SUCCESS;
}
MEMSIM_EXPORT int cusparseSpGEMM_copy(void*, int, int, const void*, SparseMatrix*, SparseMatrix*, const void* beta,
                                      SparseMatrix* c, int compute, int, Gemm* gemm) {
    Elements<Complex64> values{c->values, c->value_type};
    Complex64 keep = scalar_of<Complex64>(beta, compute);
    int64_t at = 0;
    for (size_t i = 0; i < gemm->rows.size(); ++i) {
        write_index(c->offsets, c->offset_type, int64_t(i), at + c->base);
        for (const auto& [j, value] : gemm->rows[i]) {
            write_index(c->indices, c->index_type, at, j + c->base);
            values.set(at, value + (keep != 0.0 ? keep * values.get(at) : 0.0));
            ++at;
        }
    }
    write_index(c->offsets, c->offset_type, int64_t(gemm->rows.size()), at + c->base);
    return SUCCESS;
}

}  // namespace standin
