// cuSPARSE (cuSPARSE documentation, "cuSPARSE Types Reference"): its types; what it computes is refused at the call.
#pragma once

#include "cuComplex.h"
#include "library_types.h"
#include "memsim/library_calls.h"

#define CUSPARSEAPI  // by which the samples' headers know that it was included

typedef enum {
    CUSPARSE_STATUS_SUCCESS,
    CUSPARSE_STATUS_NOT_INITIALIZED,
    CUSPARSE_STATUS_ALLOC_FAILED,
    CUSPARSE_STATUS_INVALID_VALUE,
    CUSPARSE_STATUS_ARCH_MISMATCH,
    CUSPARSE_STATUS_MAPPING_ERROR,
    CUSPARSE_STATUS_EXECUTION_FAILED,
    CUSPARSE_STATUS_INTERNAL_ERROR,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
    CUSPARSE_STATUS_ZERO_PIVOT,
    CUSPARSE_STATUS_NOT_SUPPORTED,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
} cusparseStatus_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE } cusparsePointerMode_t;
typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE,
    CUSPARSE_OPERATION_TRANSPOSE,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
} cusparseOperation_t;
typedef enum {
    CUSPARSE_MATRIX_TYPE_GENERAL,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC,
    CUSPARSE_MATRIX_TYPE_HERMITIAN,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR
} cusparseMatrixType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_MV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
    CUSPARSE_SPMV_COO_ALG2 = 4
} cusparseSpMVAlg_t;
typedef enum {
    CUSPARSE_SPMM_ALG_DEFAULT = 0,
    CUSPARSE_SPMM_COO_ALG1 = 1,
    CUSPARSE_SPMM_CSR_ALG1 = 4,
    CUSPARSE_SPMM_CSR_ALG2 = 6
} cusparseSpMMAlg_t;
typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef struct cusparseSpVecDescr* cusparseSpVecDescr_t;

inline const char* cusparseGetErrorString(cusparseStatus_t status) { return status ? "an error of cuSPARSE" : "success"; }
inline const char* cusparseGetErrorName(cusparseStatus_t status) { return cusparseGetErrorString(status); }
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreate)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDestroy)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSetStream)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSetPointerMode)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateMatDescr)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDestroyMatDescr)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSetMatType)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSetMatIndexBase)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateCsr)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateCsc)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateCoo)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateBlockedEll)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDestroySpMat)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateDnMat)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDestroyDnMat)
MEMSIM_REFUSED(cusparseStatus_t, cusparseCreateDnVec)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDestroyDnVec)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSpMV_bufferSize)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSpMV)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSpMM_bufferSize)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSpMM)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSpGEMM_compute)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSDDMM)
MEMSIM_REFUSED(cusparseStatus_t, cusparseScsrmv)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDcsrmv)
MEMSIM_REFUSED(cusparseStatus_t, cusparseSparseToDense)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDenseToSparse_bufferSize)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDenseToSparse_analysis)
MEMSIM_REFUSED(cusparseStatus_t, cusparseDenseToSparse_convert)
