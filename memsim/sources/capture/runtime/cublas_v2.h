// cuBLAS (cuBLAS documentation): its types, and of its functions those of levels 1 and 2 that programs call most and
// products of real matrices, computed on the host by their definitions. Numbers of enums as documented.
#pragma once

#include "cuComplex.h"
#include "cuda_runtime.h"
#include "memsim/gemm.h"

#define CUBLAS_API_H_  // by which the samples' headers know that it was included

#define CUBLAS_VERSION 120000
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2, CUBLAS_GEMM_ALGO3 = 3, CUBLAS_GEMM_ALGO4 = 4, CUBLAS_GEMM_ALGO5 = 5, CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

struct cublasContext {
    cublasPointerMode_t mode;
    cudaStream_t stream;
    cublasMath_t math;
};
typedef cublasContext* cublasHandle_t;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    return *handle = new cublasContext{}, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) { return delete handle, CUBLAS_STATUS_SUCCESS; }
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
    return *stream = handle->stream, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
    return handle->math = math, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* math) {
    return *math = handle->math, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    return handle->mode = mode, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return *mode = handle->mode, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    return *version = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}
inline const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

// Host and device memory are one.
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int step, void* to, int to_step) {
    for (long long i = 0; i < n; ++i)
        memcpy(static_cast<char*>(to) + i * to_step * bytes, static_cast<const char*>(from) + i * step * bytes, bytes);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int leading, void* to,
                                      int to_leading) {
    for (long long j = 0; j < columns; ++j)
        memcpy(static_cast<char*>(to) + j * to_leading * bytes, static_cast<const char*>(from) + j * leading * bytes,
               size_t(rows) * bytes);
    return CUBLAS_STATUS_SUCCESS;
}
#define cublasGetVector cublasSetVector
#define cublasGetMatrix cublasSetMatrix

namespace memsim_probe {

// Where the i-th of n elements lies: with a negative step the last one comes first (BLAS).
inline long long at(int i, int n, int step) { return step < 0 ? static_cast<long long>(i - n + 1) * step : static_cast<long long>(i) * step; }

template <class T>
cublasStatus_t blas_gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, T alpha, const void* a,
                         cudaDataType a_type, long long lda, const void* b, cudaDataType b_type, long long ldb, T beta,
                         void* c, cudaDataType c_type, long long ldc) {
    bool done = gemm<T>(m, n, k, alpha, {a, a_type, lda, ta != CUBLAS_OP_N}, {b, b_type, ldb, tb != CUBLAS_OP_N}, beta,
                        c, c_type, ldc);
    return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// Products whose scalars have the type that is computed with.
inline cublasStatus_t blas_gemm_as(cublasComputeType_t compute, cublasOperation_t ta, cublasOperation_t tb, int m,
                                   int n, int k, const void* alpha, const void* a, cudaDataType a_type, long long lda,
                                   const void* b, cudaDataType b_type, long long ldb, const void* beta, void* c,
                                   cudaDataType c_type, long long ldc) {
    auto with = [&](auto one, auto zero) {
        return blas_gemm(ta, tb, m, n, k, one, a, a_type, lda, b, b_type, ldb, zero, c, c_type, ldc);
    };
    switch (compute) {
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return with(*static_cast<const double*>(alpha), *static_cast<const double*>(beta));
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC: return with(*static_cast<const int*>(alpha), *static_cast<const int*>(beta));
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return with(float(*static_cast<const __half*>(alpha)), float(*static_cast<const __half*>(beta)));
        default: return with(*static_cast<const float*>(alpha), *static_cast<const float*>(beta));
    }
}
inline cublasComputeType_t compute_type(cublasComputeType_t type) { return type; }
inline cublasComputeType_t compute_type(cudaDataType type) {
    return type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
           : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
           : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                : CUBLAS_COMPUTE_32F;
}

}  // namespace memsim_probe

// The functions of one type: `S` in their names, computed in `compute`.
#define MEMSIM_BLAS(S, real, type, compute)                                                                            \
    inline cublasStatus_t cublas##S##gemm(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,    \
                                          int k, const real* alpha, const real* a, int lda, const real* b, int ldb,    \
                                          const real* beta, real* c, int ldc) {                                        \
        return memsim_probe::blas_gemm<compute>(ta, tb, m, n, k, compute(*alpha), a, type, lda, b, type, ldb,          \
                                                compute(*beta), c, type, ldc);                                         \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##gemmStridedBatched(                                                               \
        cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const real* alpha,          \
        const real* a, int lda, long long a_step, const real* b, int ldb, long long b_step, const real* beta, real* c, \
        int ldc, long long c_step, int count) {                                                                        \
        for (int i = 0; i < count; ++i)                                                                                \
            cublas##S##gemm(h, ta, tb, m, n, k, alpha, a + i * a_step, lda, b + i * b_step, ldb, beta, c + i * c_step, \
                            ldc);                                                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##gemmBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,  \
                                                 int n, int k, const real* alpha, const real* const a[], int lda,      \
                                                 const real* const b[], int ldb, const real* beta, real* const c[],    \
                                                 int ldc, int count) {                                                 \
        for (int i = 0; i < count; ++i) cublas##S##gemm(h, ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc); \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
MEMSIM_BLAS(S, float, CUDA_R_32F, float)
MEMSIM_BLAS(D, double, CUDA_R_64F, double)
MEMSIM_BLAS(H, __half, CUDA_R_16F, float)
#undef MEMSIM_BLAS

#define MEMSIM_BLAS_VECTORS(S, s, real)                                                                                \
    inline cublasStatus_t cublas##S##axpy(cublasHandle_t, int n, const real* alpha, const real* x, int x_step,         \
                                          real* y, int y_step) {                                                       \
        using memsim_probe::at;                                                                                        \
        for (int i = 0; i < n; ++i) y[at(i, n, y_step)] += *alpha * x[at(i, n, x_step)];                               \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##scal(cublasHandle_t, int n, const real* alpha, real* x, int step) {               \
        for (int i = 0; i < n; ++i) x[memsim_probe::at(i, n, step)] *= *alpha;                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##copy(cublasHandle_t, int n, const real* x, int x_step, real* y, int y_step) {     \
        using memsim_probe::at;                                                                                        \
        for (int i = 0; i < n; ++i) y[at(i, n, y_step)] = x[at(i, n, x_step)];                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##swap(cublasHandle_t, int n, real* x, int x_step, real* y, int y_step) {           \
        using memsim_probe::at;                                                                                        \
        for (int i = 0; i < n; ++i) std::swap(y[at(i, n, y_step)], x[at(i, n, x_step)]);                               \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##dot(cublasHandle_t, int n, const real* x, int x_step, const real* y, int y_step,  \
                                         real* result) {                                                               \
        using memsim_probe::at;                                                                                        \
        double sum = 0;                                                                                                \
        for (int i = 0; i < n; ++i) sum += double(x[at(i, n, x_step)]) * y[at(i, n, y_step)];                          \
        return *result = real(sum), CUBLAS_STATUS_SUCCESS;                                                             \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##nrm2(cublasHandle_t, int n, const real* x, int step, real* result) {              \
        double sum = 0;                                                                                                \
        for (int i = 0; i < n; ++i) sum += double(x[memsim_probe::at(i, n, step)]) * x[memsim_probe::at(i, n, step)];  \
        return *result = real(sqrt(sum)), CUBLAS_STATUS_SUCCESS;                                                       \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##asum(cublasHandle_t, int n, const real* x, int step, real* result) {              \
        double sum = 0;                                                                                                \
        for (int i = 0; i < n; ++i) sum += fabs(double(x[memsim_probe::at(i, n, step)]));                              \
        return *result = real(sum), CUBLAS_STATUS_SUCCESS;                                                             \
    }                                                                                                                  \
    inline cublasStatus_t cublasI##s##amax(cublasHandle_t, int n, const real* x, int step, int* result) {              \
        *result = n > 0;                                                                                               \
        for (int i = 1; i < n; ++i)                                                                                    \
            if (fabs(x[memsim_probe::at(i, n, step)]) > fabs(x[memsim_probe::at(*result - 1, n, step)]))               \
                *result = i + 1;                                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublasI##s##amin(cublasHandle_t, int n, const real* x, int step, int* result) {              \
        *result = n > 0;                                                                                               \
        for (int i = 1; i < n; ++i)                                                                                    \
            if (fabs(x[memsim_probe::at(i, n, step)]) < fabs(x[memsim_probe::at(*result - 1, n, step)]))               \
                *result = i + 1;                                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##gemv(cublasHandle_t, cublasOperation_t t, int m, int n, const real* alpha,        \
                                          const real* a, int lda, const real* x, int x_step, const real* beta,         \
                                          real* y, int y_step) {                                                       \
        using memsim_probe::at;                                                                                        \
        int rows = t == CUBLAS_OP_N ? m : n, columns = t == CUBLAS_OP_N ? n : m;                                       \
        for (int i = 0; i < rows; ++i) {                                                                               \
            real sum = 0, &to = y[at(i, rows, y_step)];                                                                \
            for (long long j = 0; j < columns; ++j)                                                                    \
                sum += a[t == CUBLAS_OP_N ? j * lda + i : (long long)i * lda + j] * x[at(int(j), columns, x_step)];    \
            to = *alpha * sum + (*beta != 0 ? *beta * to : real(0));                                                   \
        }                                                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##ger(cublasHandle_t, int m, int n, const real* alpha, const real* x, int x_step,   \
                                         const real* y, int y_step, real* a, int lda) {                                \
        using memsim_probe::at;                                                                                        \
        for (int j = 0; j < n; ++j)                                                                                    \
            for (int i = 0; i < m; ++i)                                                                                \
                a[(long long)j * lda + i] += *alpha * x[at(i, m, x_step)] * y[at(j, n, y_step)];                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    inline cublasStatus_t cublas##S##geam(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,    \
                                          const real* alpha, const real* a, int lda, const real* beta, const real* b,  \
                                          int ldb, real* c, int ldc) {                                                 \
        for (long long j = 0; j < n; ++j)                                                                              \
            for (long long i = 0; i < m; ++i) {                                                                        \
                real sum = 0;                                                                                          \
                if (*alpha != 0) sum += *alpha * a[ta == CUBLAS_OP_N ? j * lda + i : i * lda + j];                     \
                if (*beta != 0) sum += *beta * b[tb == CUBLAS_OP_N ? j * ldb + i : i * ldb + j];                       \
                c[j * ldc + i] = sum;                                                                                  \
            }                                                                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
MEMSIM_BLAS_VECTORS(S, s, float)
MEMSIM_BLAS_VECTORS(D, d, double)
#undef MEMSIM_BLAS_VECTORS

// Programs before CUDA 11 give the type that is computed with as a type of data.
template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                            cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            Compute compute, cublasGemmAlgo_t) {
    return memsim_probe::blas_gemm_as(memsim_probe::compute_type(compute), ta, tb, m, n, k, alpha, a, a_type, lda, b,
                                      b_type, ldb, beta, c, c_type, ldc);
}
namespace memsim_probe {
inline size_t number_bytes(cudaDataType type) {
    switch (type) {
        case CUDA_R_64F: return 8;
        case CUDA_R_32F:
        case CUDA_R_32I: return 4;
        case CUDA_R_16F:
        case CUDA_R_16BF: return 2;
        default: return 1;
    }
}
}  // namespace memsim_probe
template <class Compute>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                          int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                                          long long a_step, const void* b, cudaDataType b_type, int ldb,
                                          long long b_step, const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long c_step, int count, Compute compute, cublasGemmAlgo_t algorithm) {
    auto nth = [](auto* start, cudaDataType type, long long index) {
        return static_cast<decltype(start)>((char*)start + index * (long long)memsim_probe::number_bytes(type));
    };
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; ++i)
        status = cublasGemmEx(h, ta, tb, m, n, k, alpha, nth(a, a_type, i * a_step), a_type, lda,
                              nth(b, b_type, i * b_step), b_type, ldb, beta, nth(c, c_type, i * c_step), c_type, ldc,
                              compute, algorithm);
    return status;
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                    const float* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                                    cudaDataType b_type, int ldb, const float* beta, void* c, cudaDataType c_type,
                                    int ldc) {
    return cublasGemmEx(h, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

#define MEMSIM_REFUSED_REAL(name) MEMSIM_REFUSED(cublasStatus_t, cublasS##name) MEMSIM_REFUSED(cublasStatus_t, cublasD##name)
#define MEMSIM_REFUSED_COMPLEX(name) MEMSIM_REFUSED(cublasStatus_t, cublasC##name) MEMSIM_REFUSED(cublasStatus_t, cublasZ##name)
#define MEMSIM_REFUSED_ALL(name) MEMSIM_REFUSED_REAL(name) MEMSIM_REFUSED_COMPLEX(name)
MEMSIM_REFUSED_COMPLEX(gemm)
MEMSIM_REFUSED_COMPLEX(gemmBatched)
MEMSIM_REFUSED_COMPLEX(gemmStridedBatched)
MEMSIM_REFUSED_COMPLEX(gemv)
MEMSIM_REFUSED_COMPLEX(axpy)
MEMSIM_REFUSED_COMPLEX(copy)
MEMSIM_REFUSED_COMPLEX(dotu)
MEMSIM_REFUSED_COMPLEX(dotc)
MEMSIM_REFUSED_COMPLEX(scal)
MEMSIM_REFUSED_COMPLEX(geam)
MEMSIM_REFUSED_COMPLEX(hemm)
MEMSIM_REFUSED_COMPLEX(herk)
MEMSIM_REFUSED_ALL(rot)
MEMSIM_REFUSED_ALL(rotg)
MEMSIM_REFUSED_REAL(rotm)
MEMSIM_REFUSED_REAL(sbmv)
MEMSIM_REFUSED_REAL(symv)
MEMSIM_REFUSED_REAL(syr)
MEMSIM_REFUSED_REAL(syr2)
MEMSIM_REFUSED_REAL(spmv)
MEMSIM_REFUSED_ALL(gbmv)
MEMSIM_REFUSED_ALL(tbmv)
MEMSIM_REFUSED_ALL(trmv)
MEMSIM_REFUSED_ALL(trsv)
MEMSIM_REFUSED_ALL(symm)
MEMSIM_REFUSED_ALL(syrk)
MEMSIM_REFUSED_ALL(syr2k)
MEMSIM_REFUSED_ALL(syrkx)
MEMSIM_REFUSED_ALL(trmm)
MEMSIM_REFUSED_ALL(trsm)
MEMSIM_REFUSED_ALL(trsmBatched)
MEMSIM_REFUSED_ALL(dgmm)
MEMSIM_REFUSED_ALL(getrfBatched)
MEMSIM_REFUSED_ALL(getrsBatched)
MEMSIM_REFUSED_ALL(getriBatched)
MEMSIM_REFUSED_ALL(matinvBatched)
MEMSIM_REFUSED_ALL(geqrfBatched)
MEMSIM_REFUSED_ALL(gelsBatched)
MEMSIM_REFUSED(cublasStatus_t, cublasHgemmEx)
MEMSIM_REFUSED(cublasStatus_t, cublasGemmBatchedEx)
MEMSIM_REFUSED(cublasStatus_t, cublasCgemmEx)
MEMSIM_REFUSED(cublasStatus_t, cublasCgemm3m)
MEMSIM_REFUSED(cublasStatus_t, cublasAxpyEx)
MEMSIM_REFUSED(cublasStatus_t, cublasDotEx)
MEMSIM_REFUSED(cublasStatus_t, cublasDotcEx)
MEMSIM_REFUSED(cublasStatus_t, cublasNrm2Ex)
MEMSIM_REFUSED(cublasStatus_t, cublasScalEx)
MEMSIM_REFUSED(cublasStatus_t, cublasScnrm2)
MEMSIM_REFUSED(cublasStatus_t, cublasDznrm2)
MEMSIM_REFUSED(cublasStatus_t, cublasSetVectorAsync)
MEMSIM_REFUSED(cublasStatus_t, cublasGetVectorAsync)
MEMSIM_REFUSED(cublasStatus_t, cublasSetMatrixAsync)
MEMSIM_REFUSED(cublasStatus_t, cublasGetMatrixAsync)
MEMSIM_REFUSED(cublasStatus_t, cublasLoggerConfigure)
