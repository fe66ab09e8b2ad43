// cuBLASLt (cuBLAS documentation, "Using the cuBLASLt API"): descriptions of products, and the product itself with bias,
// GELU and ReLU behind it, computed on the host. Numbers of enums as documented.
#pragma once

#include "cublas_v2.h"

typedef cublasContext* cublasLtHandle_t;
typedef enum {
    CUBLASLT_MATRIX_LAYOUT_TYPE,
    CUBLASLT_MATRIX_LAYOUT_ORDER,
    CUBLASLT_MATRIX_LAYOUT_ROWS,
    CUBLASLT_MATRIX_LAYOUT_COLS,
    CUBLASLT_MATRIX_LAYOUT_LD,
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
    CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET
} cublasLtMatrixLayoutAttribute_t;
typedef enum { CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW } cublasLtOrder_t;
typedef enum {
    CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
    CUBLASLT_MATMUL_DESC_SCALE_TYPE,
    CUBLASLT_MATMUL_DESC_POINTER_MODE,
    CUBLASLT_MATMUL_DESC_TRANSA,
    CUBLASLT_MATMUL_DESC_TRANSB,
    CUBLASLT_MATMUL_DESC_TRANSC,
    CUBLASLT_MATMUL_DESC_FILL_MODE,
    CUBLASLT_MATMUL_DESC_EPILOGUE,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER,
    CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 13,
    CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
    CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
    CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
    CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
    CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
    CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
} cublasLtMatmulDescAttributes_t;
typedef enum {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    CUBLASLT_EPILOGUE_GELU_AUX = 160,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
    CUBLASLT_EPILOGUE_DGELU = 192,
    CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
    CUBLASLT_EPILOGUE_BGRADA = 256,
    CUBLASLT_EPILOGUE_BGRADB = 512
} cublasLtEpilogue_t;
typedef enum {
    CUBLASLT_MATMUL_PREF_SEARCH_MODE,
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
} cublasLtMatmulPreferenceAttributes_t;
typedef struct {
    int unused;
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

namespace memsim_probe {

struct MatrixLayout {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t leading;
    int32_t order = CUBLASLT_ORDER_COL, count = 1;
    int64_t step = 0;
};
struct MatmulDescription {
    cublasComputeType_t compute;
    cudaDataType scale, bias_type = static_cast<cudaDataType>(-1);
    int32_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
    uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    void *bias = nullptr, *auxiliary = nullptr;
    int64_t auxiliary_leading = 0;
};

template <class T>
cublasStatus_t set_field(T& field, const void* from, size_t bytes) {
    if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    return memcpy(&field, from, bytes), CUBLAS_STATUS_SUCCESS;
}

// Bias, then the activation, of each number of D; GELU by tanh, as documented.
inline cublasStatus_t finish(const MatmulDescription& m, void* d, const MatrixLayout& layout) {
    cudaDataType bias_type = m.bias_type == static_cast<cudaDataType>(-1) ? layout.type : m.bias_type;
    bool with_bias = m.epilogue & 4, gelu = m.epilogue & 32, relu = m.epilogue & 2;
    for (uint64_t j = 0; j < layout.columns; ++j)
        for (uint64_t i = 0; i < layout.rows; ++i) {
            float value = 0, bias = 0;
            bool known = read_number(d, layout.type, j * layout.leading + i, value);
            if (with_bias) known &= read_number(m.bias, bias_type, i, bias);
            value += bias;
            if (m.epilogue & 128) known &= write_number(m.auxiliary, layout.type, j * m.auxiliary_leading + i, value);
            if (gelu) value = 0.5f * value * (1 + tanhf(0.7978845608f * (value + 0.044715f * value * value * value)));
            if (relu && value < 0) value = 0;
            if (!known || !write_number(d, layout.type, j * layout.leading + i, value))
                return CUBLAS_STATUS_NOT_SUPPORTED;
        }
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace memsim_probe

typedef memsim_probe::MatrixLayout* cublasLtMatrixLayout_t;
typedef memsim_probe::MatmulDescription* cublasLtMatmulDesc_t;
typedef struct cublasLtMatmulPreferenceOpaque {
    size_t workspace;
}* cublasLtMatmulPreference_t;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return cublasCreate(handle); }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return cublasDestroy(handle); }
inline size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                                 uint64_t columns, int64_t leading) {
    return *layout = new memsim_probe::MatrixLayout{type, rows, columns, leading}, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return delete layout, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t which, const void* from,
                                                       size_t bytes) {
    using memsim_probe::set_field;
    switch (which) {
        case CUBLASLT_MATRIX_LAYOUT_ORDER: return set_field(layout->order, from, bytes);
        case CUBLASLT_MATRIX_LAYOUT_LD: return set_field(layout->leading, from, bytes);
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set_field(layout->count, from, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set_field(layout->step, from, bytes);
        default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                               cudaDataType scale) {
    return *made = new memsim_probe::MatmulDescription{compute, scale}, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t one) { return delete one, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t one, cublasLtMatmulDescAttributes_t which,
                                                     const void* from, size_t bytes) {
    using memsim_probe::set_field;
    switch (which) {
        case CUBLASLT_MATMUL_DESC_TRANSA: return set_field(one->a, from, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB: return set_field(one->b, from, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE: return set_field(one->epilogue, from, bytes);
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return set_field(one->scale, from, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set_field(one->bias, from, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set_field(one->bias_type, from, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return set_field(one->auxiliary, from, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return set_field(one->auxiliary_leading, from, bytes);
        default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
    return *made = new cublasLtMatmulPreferenceOpaque{}, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t one) {
    return delete one, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
// There is one way to compute here.
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t* results, int* returned) {
    *returned = wanted > 0;
    if (wanted > 0) results[0] = {};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t m, const void* alpha, const void* a,
                                     cublasLtMatrixLayout_t of_a, const void* b, cublasLtMatrixLayout_t of_b,
                                     const void* beta, const void* c, cublasLtMatrixLayout_t of_c, void* d,
                                     cublasLtMatrixLayout_t of_d, const cublasLtMatmulAlgo_t*, void*, size_t,
                                     cudaStream_t) {
    bool rows = of_a->order || of_b->order || of_c->order || of_d->order;
    if (rows || (m->epilogue & ~uint32_t{167} && m->epilogue != CUBLASLT_EPILOGUE_DEFAULT) || (c != d && of_d->count > 1))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (c != d && of_c->type != of_d->type) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (c != d && c)
        for (uint64_t j = 0; j < of_d->columns; ++j) {
            size_t bytes = memsim_probe::number_bytes(of_d->type);
            memcpy(static_cast<char*>(d) + j * of_d->leading * bytes,
                   static_cast<const char*>(c) + j * of_c->leading * bytes, of_d->rows * bytes);
        }
    int k = m->a == CUBLAS_OP_N ? int(of_a->columns) : int(of_a->rows);
    cublasStatus_t status = cublasGemmStridedBatchedEx(
        handle, cublasOperation_t(m->a), cublasOperation_t(m->b), int(of_d->rows), int(of_d->columns), k, alpha, a,
        of_a->type, int(of_a->leading), of_a->step, b, of_b->type, int(of_b->leading), of_b->step, beta, d, of_d->type,
        int(of_d->leading), of_d->step, of_d->count, m->compute, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS || m->epilogue == CUBLASLT_EPILOGUE_DEFAULT) return status;
    return of_d->count > 1 ? CUBLAS_STATUS_NOT_SUPPORTED : memsim_probe::finish(*m, d, *of_d);
}
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatrixTransform)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoGetIds)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoInit)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoCheck)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoConfigSetAttribute)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoConfigGetAttribute)
MEMSIM_REFUSED(cublasStatus_t, cublasLtMatmulAlgoCapGetAttribute)
