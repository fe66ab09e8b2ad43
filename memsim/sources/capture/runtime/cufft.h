// cuFFT (cuFFT documentation, "Fast Fourier Transform Types" and "Functions"): its types; transforms are refused at the
// call.
#pragma once

#include "cuComplex.h"
#include "library_types.h"
#include "memsim/library_calls.h"

#define _CUFFT_H_  // by which the samples' headers know that it was included

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef enum {
    CUFFT_SUCCESS,
    CUFFT_INVALID_PLAN,
    CUFFT_ALLOC_FAILED,
    CUFFT_INVALID_TYPE,
    CUFFT_INVALID_VALUE,
    CUFFT_INTERNAL_ERROR,
    CUFFT_EXEC_FAILED,
    CUFFT_SETUP_FAILED,
    CUFFT_INVALID_SIZE,
    CUFFT_UNALIGNED_DATA,
    CUFFT_INCOMPLETE_PARAMETER_LIST,
    CUFFT_INVALID_DEVICE,
    CUFFT_PARSE_ERROR,
    CUFFT_NO_WORKSPACE,
    CUFFT_NOT_IMPLEMENTED,
    CUFFT_LICENSE_ERROR,
    CUFFT_NOT_SUPPORTED,
    CUFFT_MISSING_DEPENDENCY,
    CUFFT_NVRTC_FAILURE,
    CUFFT_NVJITLINK_FAILURE,
    CUFFT_NVSHMEM_FAILURE
} cufftResult_t;
typedef cufftResult_t cufftResult;
typedef enum {
    CUFFT_R2C = 0x2A,
    CUFFT_C2R = 0x2C,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6A,
    CUFFT_Z2D = 0x6C,
    CUFFT_Z2Z = 0x69
} cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

MEMSIM_REFUSED(cufftResult, cufftCreate)
MEMSIM_REFUSED(cufftResult, cufftDestroy)
MEMSIM_REFUSED(cufftResult, cufftPlan1d)
MEMSIM_REFUSED(cufftResult, cufftPlan2d)
MEMSIM_REFUSED(cufftResult, cufftPlan3d)
MEMSIM_REFUSED(cufftResult, cufftPlanMany)
MEMSIM_REFUSED(cufftResult, cufftMakePlan1d)
MEMSIM_REFUSED(cufftResult, cufftMakePlan2d)
MEMSIM_REFUSED(cufftResult, cufftMakePlan3d)
MEMSIM_REFUSED(cufftResult, cufftMakePlanMany)
MEMSIM_REFUSED(cufftResult, cufftSetStream)
MEMSIM_REFUSED(cufftResult, cufftSetWorkArea)
MEMSIM_REFUSED(cufftResult, cufftSetAutoAllocation)
MEMSIM_REFUSED(cufftResult, cufftGetSize)
MEMSIM_REFUSED(cufftResult, cufftGetVersion)
MEMSIM_REFUSED(cufftResult, cufftExecC2C)
MEMSIM_REFUSED(cufftResult, cufftExecR2C)
MEMSIM_REFUSED(cufftResult, cufftExecC2R)
MEMSIM_REFUSED(cufftResult, cufftExecZ2Z)
MEMSIM_REFUSED(cufftResult, cufftExecD2Z)
MEMSIM_REFUSED(cufftResult, cufftExecZ2D)
