// Handles, descriptors and the choice of algorithms (cuBLAS documentation, "cuBLASLt API Reference").
#include "descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

namespace standin {
namespace {

struct Field {
    int attribute;
    size_t offset, bytes;
};
#define FIELD(number, type, name) {number, offsetof(type, name), sizeof(type::name)}
const Field layout_fields[] = {
    FIELD(0, Layout, type), FIELD(1, Layout, order), FIELD(2, Layout, rows), FIELD(3, Layout, columns),
    FIELD(4, Layout, leading), FIELD(5, Layout, batch_count), FIELD(6, Layout, batch_stride),
    FIELD(7, Layout, plane_offset), FIELD(8, Layout, batch_mode),
};
const Field operation_fields[] = {
    FIELD(0, Operation, compute), FIELD(1, Operation, scale_type), FIELD(2, Operation, pointer_mode),
    FIELD(3, Operation, a_op), FIELD(4, Operation, b_op), FIELD(5, Operation, c_op), FIELD(6, Operation, fill),
    FIELD(7, Operation, epilogue), FIELD(8, Operation, bias), FIELD(10, Operation, bias_stride),
    FIELD(11, Operation, aux), FIELD(12, Operation, aux_leading), FIELD(13, Operation, aux_stride),
    FIELD(17, Operation, a_scale), FIELD(18, Operation, b_scale), FIELD(19, Operation, c_scale),
    FIELD(20, Operation, d_scale), FIELD(21, Operation, d_max), FIELD(22, Operation, aux_type),
    FIELD(25, Operation, fast_accumulation), FIELD(26, Operation, bias_type), FIELD(31, Operation, a_scale_mode),
    FIELD(32, Operation, b_scale_mode), FIELD(33, Operation, c_scale_mode), FIELD(34, Operation, d_scale_mode),
};
#undef FIELD

// Attributes that are not listed are hints for the choice of a kernel; they are accepted.
template <size_t N>
int set_field(const Field (&fields)[N], void* of, int attribute, const void* value, size_t bytes) {
    if (!of || !value) return INVALID_VALUE;
    for (const Field& field : fields)
        if (field.attribute == attribute) {
            // A one-byte or four-byte value of a wider field keeps its upper bytes at zero.
            memset(static_cast<char*>(of) + field.offset, 0, field.bytes);
            memcpy(static_cast<char*>(of) + field.offset, value, bytes < field.bytes ? bytes : field.bytes);
        }
    return SUCCESS;
}
template <size_t N>
int get_field(const Field (&fields)[N], const void* of, int attribute, void* value, size_t bytes, size_t* written) {
    if (!of || (!value && bytes)) return INVALID_VALUE;
    for (const Field& field : fields)
        if (field.attribute == attribute) {
            if (written) *written = field.bytes;
            if (!bytes) return SUCCESS;
            if (bytes < field.bytes) return INVALID_VALUE;
            memcpy(value, static_cast<const char*>(of) + field.offset, field.bytes);
            return SUCCESS;
        }
    return INVALID_VALUE;
}

// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct Algorithm {
    uint64_t data[8];
};
struct Heuristic {
    Algorithm algorithm;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};
void* new_words(size_t words) { return calloc(words, 8); }
int delete_words(void* one) { return free(one), SUCCESS; }

int init_layout(Layout* layout, size_t bytes, int type, uint64_t rows, uint64_t columns, int64_t leading) {
    if (!layout || bytes < sizeof *layout) return INVALID_VALUE;
    *layout = {type, 0, rows, columns, leading, 1, 0, 0, 0, 0};
    return SUCCESS;
}
int init_operation(Operation* operation, size_t bytes, int compute, int scale_type) {
    if (!operation || bytes < sizeof *operation) return INVALID_VALUE;
    *operation = {};
    operation->compute = compute;
    operation->scale_type = scale_type;
    operation->fill = 2;
    operation->epilogue = 1;
    operation->bias_type = operation->aux_type = -1;
    return SUCCESS;
}
int one_algorithm(int wanted, Heuristic* results, int* found) {
    if (wanted < 1 || !results || !found) return INVALID_VALUE;
    *results = {};
    results->waves = 1;
    *found = 1;
    return SUCCESS;
}

}  // namespace

MEMSIM_EXPORT int cublasLtCreate(void** handle) { return *handle = new_words(1), SUCCESS; }
MEMSIM_EXPORT int cublasLtDestroy(void* handle) { return delete_words(handle); }
MEMSIM_EXPORT size_t cublasLtGetVersion() { return 130000; }
MEMSIM_EXPORT size_t cublasLtGetCudartVersion() { return 13000; }
MEMSIM_EXPORT int cublasLtGetProperty(int type, int* value) { return *value = type ? 0 : 13, SUCCESS; }
MEMSIM_EXPORT const char* cublasLtGetStatusName(int status) {
    return status == SUCCESS ? "CUBLAS_STATUS_SUCCESS"
           : status == INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_NOT_SUPPORTED";
}

MEMSIM_EXPORT int cublasLtMatrixLayoutInit_internal(Layout* layout, size_t bytes, int type, uint64_t rows,
                                                    uint64_t columns, int64_t leading) {
    return init_layout(layout, bytes, type, rows, columns, leading);
}
MEMSIM_EXPORT int cublasLtMatrixLayoutCreate(Layout** layout, int type, uint64_t rows, uint64_t columns,
                                             int64_t leading) {
    *layout = static_cast<Layout*>(new_words(14));
    return init_layout(*layout, sizeof **layout, type, rows, columns, leading);
}
MEMSIM_EXPORT int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value, size_t bytes) {
    return set_field(layout_fields, layout, attribute, value, bytes);
}
MEMSIM_EXPORT int cublasLtMatrixLayoutGetAttribute(Layout* layout, int attribute, void* value, size_t bytes,
                                                   size_t* written) {
    return get_field(layout_fields, layout, attribute, value, bytes, written);
}

MEMSIM_EXPORT int cublasLtMatmulDescInit_internal(Operation* operation, size_t bytes, int compute, int scale_type) {
    return init_operation(operation, bytes, compute, scale_type);
}
MEMSIM_EXPORT int cublasLtMatmulDescCreate(Operation** operation, int compute, int scale_type) {
    *operation = static_cast<Operation*>(new_words(32));
    return init_operation(*operation, sizeof **operation, compute, scale_type);
}
MEMSIM_EXPORT int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value, size_t bytes) {
    return set_field(operation_fields, operation, attribute, value, bytes);
}
MEMSIM_EXPORT int cublasLtMatmulDescGetAttribute(Operation* operation, int attribute, void* value, size_t bytes,
                                                 size_t* written) {
    return get_field(operation_fields, operation, attribute, value, bytes, written);
}

MEMSIM_EXPORT int cublasLtMatmulPreferenceInit_internal(void* preference, size_t bytes) {
    return memset(preference, 0, bytes), SUCCESS;
}
MEMSIM_EXPORT int cublasLtMatmulPreferenceCreate(void** preference) { return *preference = new_words(12), SUCCESS; }

MEMSIM_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, Operation*, Layout*, Layout*, Layout*, Layout*, void*,
                                                 int wanted, Heuristic* results, int* found) {
    return one_algorithm(wanted, results, found);
}
MEMSIM_EXPORT int cublasLtMatmulAlgoGetIds(void*, int, int, int, int, int, int, int wanted, int* ids, int* found) {
    if (wanted < 1 || !ids || !found) return INVALID_VALUE;
    return *ids = 0, *found = 1, SUCCESS;
}
MEMSIM_EXPORT int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, Algorithm* algorithm) {
    return *algorithm = {}, SUCCESS;
}
MEMSIM_EXPORT int cublasLtMatmulAlgoCheck(void*, Operation*, Layout*, Layout*, Layout*, Layout*, const Algorithm*,
                                          Heuristic* result) {
    int found;
    return one_algorithm(1, result, &found);
}
MEMSIM_EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm*, int, void* value, size_t bytes,
                                                       size_t* written) {
    if (value) memset(value, 0, bytes);
    if (written) *written = bytes;
    return SUCCESS;
}
// No tiles, stages or other choices.
MEMSIM_EXPORT int cublasLtMatmulAlgoCapGetAttribute(const Algorithm*, int, void* value, size_t bytes, size_t* written) {
    if (value) memset(value, 0, bytes);
    if (written) *written = value ? bytes : 0;
    return SUCCESS;
}

}  // namespace standin
