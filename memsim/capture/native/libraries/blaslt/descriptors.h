// Descriptors of cuBLASLt (cuBLAS documentation, "cuBLASLt Datatypes Reference"). They live in the opaque structures of
// the header: 8 words for a layout and 32 for an operation, which programs may also keep on their stack.
#pragma once

#include <stdint.h>

#include "../common/data_types.h"

namespace standin {

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };

// cublasLtMatrixLayoutOpaque_t.
struct Layout {
    int type, order;  // order: 0 columns, 1 rows
    uint64_t rows, columns;
    int64_t leading;
    int batch_count, batch_mode;
    int64_t batch_stride, plane_offset;
    uint64_t unused;
};
static_assert(sizeof(Layout) <= 64, "a layout has 8 words");

// cublasLtMatmulDescOpaque_t.
struct Operation {
    int compute, scale_type, pointer_mode, a_op, b_op, c_op, fill, epilogue;
    const void* bias;
    int64_t bias_stride;
    void* aux;
    int64_t aux_leading, aux_stride;
    const float *a_scale, *b_scale, *c_scale, *d_scale;
    float* d_max;
    int bias_type, aux_type, fast_accumulation, unused;
    int a_scale_mode, b_scale_mode, c_scale_mode, d_scale_mode;
};
static_assert(sizeof(Operation) <= 256, "an operation has 32 words");

// CUBLASLT_EPILOGUE_*: a sum of these.
enum Epilogue { RELU = 2, BIAS = 4, D_RELU = 8, BIAS_GRADIENT = 16, GELU = 32, D_GELU = 64, AUX = 128,
                BIAS_GRADIENT_A = 256, BIAS_GRADIENT_B = 512 };

}  // namespace standin
