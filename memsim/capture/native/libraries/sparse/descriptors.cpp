// Handles and descriptors (cuSPARSE documentation, "cuSPARSE Management API", "Generic API Reference").
#include "descriptors.h"

#include <string.h>

namespace standin {

SparseMatrix SparseMatrix::in_batch(int i) const {
    SparseMatrix one = *this;
    if (batch_count < 2) return one;
    int64_t offset_bytes = offset_type == INDEX_64 ? 8 : 4, index_bytes = index_type == INDEX_64 ? 8 : 4;
    int64_t moved = format == COO ? value_stride : offset_stride;
    one.offsets = static_cast<char*>(offsets) + i * moved * offset_bytes;
    one.indices = static_cast<char*>(indices) + i * value_stride * index_bytes;
    one.values = static_cast<char*>(values) + i * value_stride * int64_t(bytes_of(value_type));
    return one;
}

namespace {

void add_ell_entries(const SparseMatrix& m, std::vector<Entry>& to) {
    int64_t size = m.block_rows, blocks = m.ell_columns / size;
    std::vector<int64_t> columns = read_indices(m.indices, m.index_type, m.base, m.rows / size * blocks);
    for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t b = 0; b < blocks; ++b) {
            int64_t column = columns[size_t(i / size * blocks + b)];
            for (int64_t j = 0; column >= 0 && j < size; ++j)  // negative: a block that is not there
                to.push_back({i, column * size + j, i * m.ell_columns + b * size + j});
        }
}
// Compressed rows, columns, or rows of blocks.
void add_compressed_entries(const SparseMatrix& m, std::vector<Entry>& to) {
    int64_t lines = m.format == CSC ? m.columns : m.rows / m.block_rows, area = m.block_rows * m.block_columns;
    std::vector<int64_t> offsets = read_indices(m.offsets, m.offset_type, m.base, lines + 1);
    std::vector<int64_t> indices = read_indices(m.indices, m.index_type, m.base, offsets[size_t(lines)]);
    for (int64_t line = 0; line < lines; ++line)
        for (int64_t k = offsets[size_t(line)]; k < offsets[size_t(line) + 1]; ++k)
            for (int64_t e = 0; e < area; ++e) {
                bool by_rows = m.block_order == BY_ROWS;
                int64_t i = by_rows ? e / m.block_columns : e % m.block_rows;
                int64_t j = by_rows ? e % m.block_columns : e / m.block_rows, other = indices[size_t(k)];
                if (m.format == CSC) to.push_back({other, line, k});
                else to.push_back({line * m.block_rows + i, other * m.block_columns + j, k * area + e});
            }
}

}  // namespace

std::vector<Entry> entries_of(const SparseMatrix& m) {
    std::vector<Entry> entries;
    entries.reserve(size_t(m.entries));
    if (m.format == BLOCKED_ELL) {
        add_ell_entries(m, entries);
    } else if (m.format == COO) {
        std::vector<int64_t> rows = read_indices(m.offsets, m.index_type, m.base, m.entries);
        std::vector<int64_t> columns = read_indices(m.indices, m.index_type, m.base, m.entries);
        for (int64_t k = 0; k < m.entries; ++k) entries.push_back({rows[size_t(k)], columns[size_t(k)], k});
    } else {
        add_compressed_entries(m, entries);
    }
    return entries;
}

namespace {

struct Handle {
    void* stream = nullptr;
    int pointer_mode = 0;
};
// cusparseMatDescr_t of the older functions.
struct MatrixKind {
    int type = 0, fill = 0, diagonal = 0, base = 0;
};
struct Scratch {
    char unused[64];
};
const char* const status_names[] = {
    "CUSPARSE_STATUS_SUCCESS", "CUSPARSE_STATUS_NOT_INITIALIZED", "CUSPARSE_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INVALID_VALUE", "CUSPARSE_STATUS_ARCH_MISMATCH", "CUSPARSE_STATUS_MAPPING_ERROR",
    "CUSPARSE_STATUS_EXECUTION_FAILED", "CUSPARSE_STATUS_INTERNAL_ERROR",
    "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "CUSPARSE_STATUS_ZERO_PIVOT", "CUSPARSE_STATUS_NOT_SUPPORTED",
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
};
template <class T>
void give(T* to, T value) {
    if (to) *to = value;
}
int give_matrix(const SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* entries, void** offsets,
                void** indices, void** values, int* base, int* value_type) {
    give(rows, m->rows), give(columns, m->columns), give(entries, m->entries);
    give(offsets, m->offsets), give(indices, m->indices), give(values, m->values);
    give(base, m->base), give(value_type, m->value_type);
    return SUCCESS;
}
int create(SparseMatrix** made, const SparseMatrix& matrix) {
    if (!made || matrix.rows < 0 || matrix.columns < 0 || matrix.entries < 0) return INVALID_VALUE;
    return *made = new SparseMatrix(matrix), SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int cusparseCreate(Handle** handle) { return *handle = new Handle, SUCCESS; }
MEMSIM_EXPORT int cusparseDestroy(Handle* handle) { return delete handle, SUCCESS; }
MEMSIM_EXPORT int cusparseGetVersion(Handle*, int* version) { return *version = 12600, SUCCESS; }
MEMSIM_EXPORT int cusparseGetProperty(int type, int* value) { return *value = type == 0 ? 12 : type == 1 ? 6 : 0, SUCCESS; }
MEMSIM_EXPORT const char* cusparseGetErrorName(int status) {
    return status >= 0 && status < 12 ? status_names[status] : "unrecognized error code";
}
MEMSIM_EXPORT int cusparseSetStream(Handle* handle, void* stream) { return handle->stream = stream, SUCCESS; }
MEMSIM_EXPORT int cusparseGetStream(Handle* handle, void** stream) { return *stream = handle->stream, SUCCESS; }
MEMSIM_EXPORT int cusparseSetPointerMode(Handle* handle, int mode) { return handle->pointer_mode = mode, SUCCESS; }
MEMSIM_EXPORT int cusparseGetPointerMode(Handle* handle, int* mode) { return *mode = handle->pointer_mode, SUCCESS; }

MEMSIM_EXPORT int cusparseCreateMatDescr(MatrixKind** kind) { return *kind = new MatrixKind, SUCCESS; }
MEMSIM_EXPORT int cusparseDestroyMatDescr(MatrixKind* kind) { return delete kind, SUCCESS; }
MEMSIM_EXPORT int cusparseSetMatType(MatrixKind* kind, int type) { return kind->type = type, SUCCESS; }
MEMSIM_EXPORT int cusparseGetMatType(const MatrixKind* kind) { return kind->type; }
MEMSIM_EXPORT int cusparseSetMatFillMode(MatrixKind* kind, int fill) { return kind->fill = fill, SUCCESS; }
MEMSIM_EXPORT int cusparseGetMatFillMode(const MatrixKind* kind) { return kind->fill; }
MEMSIM_EXPORT int cusparseSetMatDiagType(MatrixKind* kind, int diagonal) { return kind->diagonal = diagonal, SUCCESS; }
MEMSIM_EXPORT int cusparseGetMatDiagType(const MatrixKind* kind) { return kind->diagonal; }
MEMSIM_EXPORT int cusparseSetMatIndexBase(MatrixKind* kind, int base) { return kind->base = base, SUCCESS; }
MEMSIM_EXPORT int cusparseGetMatIndexBase(const MatrixKind* kind) { return kind->base; }

// Each descriptor comes in a version for data that is only read, whose functions are other names of these.
#define MATRIX_PARAMETERS                                                                                              \
    SparseMatrix **made, int64_t rows, int64_t columns, int64_t entries, void *offsets, void *indices, void *values,   \
        int offset_type, int index_type, int base, int value_type
#define MATRIX_ARGUMENTS rows, columns, entries, offsets, indices, values, offset_type, index_type, base, value_type
MEMSIM_EXPORT int cusparseCreateCsr(MATRIX_PARAMETERS) { return create(made, {CSR, MATRIX_ARGUMENTS}); }
MEMSIM_EXPORT int cusparseCreateCsc(MATRIX_PARAMETERS) { return create(made, {CSC, MATRIX_ARGUMENTS}); }
MEMSIM_EXPORT int cusparseCreateCoo(SparseMatrix** made, int64_t rows, int64_t columns, int64_t entries, void* row_of,
                                    void* column_of, void* values, int index_type, int base, int value_type) {
    return create(made, {COO, rows, columns, entries, row_of, column_of, values, index_type, index_type, base, value_type});
}
MEMSIM_EXPORT int cusparseCreateBsr(SparseMatrix** made, int64_t rows, int64_t columns, int64_t blocks,
                                    int64_t block_rows, int64_t block_columns, void* offsets, void* indices,
                                    void* values, int offset_type, int index_type, int base, int value_type, int order) {
    SparseMatrix matrix{BSR, rows * block_rows, columns * block_columns, blocks * block_rows * block_columns, offsets,
                        indices, values, offset_type, index_type, base, value_type};
    matrix.block_rows = block_rows, matrix.block_columns = block_columns, matrix.block_order = order;
    return create(made, matrix);
}
MEMSIM_EXPORT int cusparseCreateBlockedEll(SparseMatrix** made, int64_t rows, int64_t columns, int64_t block,
                                           int64_t ell_columns, void* indices, void* values, int index_type, int base,
                                           int value_type) {
    SparseMatrix matrix{BLOCKED_ELL, rows, columns, rows * ell_columns, nullptr, indices, values, index_type,
                        index_type, base, value_type};
    matrix.block_rows = matrix.block_columns = block, matrix.ell_columns = ell_columns;
    return create(made, matrix);
}
MEMSIM_EXPORT int cusparseDestroySpMat(SparseMatrix* m) { return delete m, SUCCESS; }
MEMSIM_EXPORT int cusparseCsrGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* entries, void** offsets,
                                 void** indices, void** values, int* offset_type, int* index_type, int* base,
                                 int* value_type) {
    give(offset_type, m->offset_type), give(index_type, m->index_type);
    return give_matrix(m, rows, columns, entries, offsets, indices, values, base, value_type);
}
MEMSIM_EXPORT int cusparseCooGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* entries, void** row_of,
                                 void** column_of, void** values, int* index_type, int* base, int* value_type) {
    give(index_type, m->index_type);
    return give_matrix(m, rows, columns, entries, row_of, column_of, values, base, value_type);
}
MEMSIM_EXPORT int cusparseCsrSetPointers(SparseMatrix* m, void* offsets, void* indices, void* values) {
    return m->offsets = offsets, m->indices = indices, m->values = values, SUCCESS;
}
MEMSIM_EXPORT int cusparseSpMatGetSize(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* entries) {
    return give(rows, m->rows), give(columns, m->columns), give(entries, m->entries), SUCCESS;
}
MEMSIM_EXPORT int cusparseSpMatGetFormat(SparseMatrix* m, int* format) { return *format = m->format, SUCCESS; }
MEMSIM_EXPORT int cusparseSpMatGetIndexBase(SparseMatrix* m, int* base) { return *base = m->base, SUCCESS; }
MEMSIM_EXPORT int cusparseSpMatGetValues(SparseMatrix* m, void** values) { return *values = m->values, SUCCESS; }
MEMSIM_EXPORT int cusparseSpMatSetValues(SparseMatrix* m, void* values) { return m->values = values, SUCCESS; }
MEMSIM_EXPORT int cusparseSpMatSetAttribute(SparseMatrix* m, int attribute, const int* data, size_t) {
    if (attribute == 0) m->fill = *data;
    else if (attribute == 1) m->diagonal = *data;
    return SUCCESS;
}
MEMSIM_EXPORT int cusparseSpMatGetAttribute(SparseMatrix* m, int attribute, int* data, size_t) {
    return *data = attribute == 0 ? m->fill : attribute == 1 ? m->diagonal : 0, SUCCESS;
}
MEMSIM_EXPORT int cusparseSpMatGetStridedBatch(SparseMatrix* m, int* count) { return *count = m->batch_count, SUCCESS; }
MEMSIM_EXPORT int cusparseCsrSetStridedBatch(SparseMatrix* m, int count, int64_t offsets, int64_t values) {
    return m->batch_count = count, m->offset_stride = offsets, m->value_stride = values, SUCCESS;
}
MEMSIM_EXPORT int cusparseCooSetStridedBatch(SparseMatrix* m, int count, int64_t values) {
    return m->batch_count = count, m->value_stride = values, SUCCESS;
}

MEMSIM_EXPORT int cusparseCreateDnVec(DenseVector** v, int64_t size, void* values, int type) {
    return *v = new DenseVector{size, values, type}, SUCCESS;
}
MEMSIM_EXPORT int cusparseDnVecGet(DenseVector* v, int64_t* size, void** values, int* type) {
    return give(size, v->size), give(values, v->values), give(type, v->value_type), SUCCESS;
}
MEMSIM_EXPORT int cusparseDnVecGetValues(DenseVector* v, void** values) { return *values = v->values, SUCCESS; }
MEMSIM_EXPORT int cusparseDnVecSetValues(DenseVector* v, void* values) { return v->values = values, SUCCESS; }
MEMSIM_EXPORT int cusparseDestroyDnVec(DenseVector* v) { return delete v, SUCCESS; }

MEMSIM_EXPORT int cusparseCreateDnMat(DenseMatrix** m, int64_t rows, int64_t columns, int64_t leading,
                                      void* values, int type, int order) {
    return *m = new DenseMatrix{rows, columns, leading, values, type, order}, SUCCESS;
}
MEMSIM_EXPORT int cusparseDnMatGet(DenseMatrix* m, int64_t* rows, int64_t* columns, int64_t* leading,
                                   void** values, int* type, int* order) {
    give(rows, m->rows), give(columns, m->columns), give(leading, m->leading), give(values, m->values);
    return give(type, m->value_type), give(order, m->order), SUCCESS;
}
MEMSIM_EXPORT int cusparseDnMatGetValues(DenseMatrix* m, void** values) { return *values = m->values, SUCCESS; }
MEMSIM_EXPORT int cusparseDnMatSetValues(DenseMatrix* m, void* values) { return m->values = values, SUCCESS; }
MEMSIM_EXPORT int cusparseDnMatSetStridedBatch(DenseMatrix* m, int count, int64_t stride) {
    return m->batch_count = count, m->batch_stride = stride, SUCCESS;
}
MEMSIM_EXPORT int cusparseDnMatGetStridedBatch(DenseMatrix* m, int* count, int64_t* stride) {
    return give(count, m->batch_count), give(stride, m->batch_stride), SUCCESS;
}
MEMSIM_EXPORT int cusparseDestroyDnMat(DenseMatrix* m) { return delete m, SUCCESS; }

MEMSIM_EXPORT int cusparseCreateSpVec(SparseVector** v, int64_t size, int64_t entries, void* indices,
                                      void* values, int index_type, int base, int type) {
    return *v = new SparseVector{size, entries, indices, values, index_type, base, type}, SUCCESS;
}
MEMSIM_EXPORT int cusparseSpVecGet(SparseVector* v, int64_t* size, int64_t* entries, void** indices,
                                   void** values, int* index_type, int* base, int* type) {
    give(size, v->size), give(entries, v->entries), give(indices, v->indices), give(values, v->values);
    return give(index_type, v->index_type), give(base, v->base), give(type, v->value_type), SUCCESS;
}
MEMSIM_EXPORT int cusparseSpVecSetValues(SparseVector* v, void* values) { return v->values = values, SUCCESS; }
MEMSIM_EXPORT int cusparseDestroySpVec(SparseVector* v) { return delete v, SUCCESS; }

// Descriptors of algorithms and infos of the older functions, all of which are made here, hold nothing.
MEMSIM_EXPORT int cusparseSpSV_createDescr(Scratch** made) { return *made = new Scratch{}, SUCCESS; }
MEMSIM_EXPORT int cusparseSpSV_destroyDescr(Scratch* one) { return delete one, SUCCESS; }

}  // namespace standin
