// What programs need that include the driver API's header and launch by the runtime's.
#pragma once

#include "cuda_runtime.h"
#include "memsim/library_calls.h"

#ifndef CUDA_VERSION
#define CUDA_VERSION 12000
#endif
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef unsigned long long CUdeviceptr;
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

#define CUDA_DRIVER_API
MEMSIM_REFUSED(CUresult, cuGetErrorName)
MEMSIM_REFUSED(CUresult, cuGetErrorString)
MEMSIM_REFUSED(CUresult, cuInit)
MEMSIM_REFUSED(CUresult, cuDeviceGet)
MEMSIM_REFUSED(CUresult, cuDeviceGetCount)
MEMSIM_REFUSED(CUresult, cuDeviceGetName)
MEMSIM_REFUSED(CUresult, cuCtxCreate)
MEMSIM_REFUSED(CUresult, cuCtxDestroy)
MEMSIM_REFUSED(CUresult, cuCtxGetDevice)
MEMSIM_REFUSED(CUresult, cuCtxSynchronize)
MEMSIM_REFUSED(CUresult, cuModuleLoad)
MEMSIM_REFUSED(CUresult, cuModuleLoadData)
MEMSIM_REFUSED(CUresult, cuModuleUnload)
MEMSIM_REFUSED(CUresult, cuModuleGetFunction)
MEMSIM_REFUSED(CUresult, cuModuleGetGlobal)
MEMSIM_REFUSED(CUresult, cuLaunchKernel)
MEMSIM_REFUSED(CUresult, cuMemAlloc)
MEMSIM_REFUSED(CUresult, cuMemFree)
MEMSIM_REFUSED(CUresult, cuMemcpyHtoD)
MEMSIM_REFUSED(CUresult, cuMemcpyDtoH)
MEMSIM_REFUSED(CUresult, cuMemcpyDtoD)
MEMSIM_REFUSED(CUresult, cuMemGetAddressRange)
MEMSIM_REFUSED(CUresult, cuMemGetInfo)
MEMSIM_REFUSED(CUresult, cuStreamCreate)
MEMSIM_REFUSED(CUresult, cuStreamSynchronize)
MEMSIM_REFUSED(CUresult, cuStreamDestroy)
