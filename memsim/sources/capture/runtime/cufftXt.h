// cuFFT's extensions (cuFFT documentation, "Multiple GPU Functions", "Callback Routines"), refused at the call.
#pragma once

#include "cufft.h"

typedef enum { CUFFT_COPY_HOST_TO_DEVICE, CUFFT_COPY_DEVICE_TO_HOST, CUFFT_COPY_DEVICE_TO_DEVICE } cufftXtCopyType;
typedef enum {
    CUFFT_XT_FORMAT_INPUT,
    CUFFT_XT_FORMAT_OUTPUT,
    CUFFT_XT_FORMAT_INPLACE,
    CUFFT_XT_FORMAT_INPLACE_SHUFFLED,
    CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED
} cufftXtSubFormat;
typedef enum {
    CUFFT_CB_LD_COMPLEX,
    CUFFT_CB_LD_COMPLEX_DOUBLE,
    CUFFT_CB_LD_REAL,
    CUFFT_CB_LD_REAL_DOUBLE,
    CUFFT_CB_ST_COMPLEX,
    CUFFT_CB_ST_COMPLEX_DOUBLE,
    CUFFT_CB_ST_REAL,
    CUFFT_CB_ST_REAL_DOUBLE
} cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void*, size_t, void*, void*);
typedef cufftReal (*cufftCallbackLoadR)(void*, size_t, void*, void*);
typedef void (*cufftCallbackStoreC)(void*, size_t, cufftComplex, void*, void*);
typedef void (*cufftCallbackStoreR)(void*, size_t, cufftReal, void*, void*);
typedef struct {
    int nGPUs;
    int GPUs[64];
    void* data[64];
    size_t size[64];
} cudaXtDesc;
typedef struct {
    int version;
    cudaXtDesc* descriptor;
    cufftXtSubFormat subFormat;
} cudaLibXtDesc;

MEMSIM_REFUSED(cufftResult, cufftXtSetGPUs)
MEMSIM_REFUSED(cufftResult, cufftXtMalloc)
MEMSIM_REFUSED(cufftResult, cufftXtFree)
MEMSIM_REFUSED(cufftResult, cufftXtMemcpy)
MEMSIM_REFUSED(cufftResult, cufftXtSetCallback)
MEMSIM_REFUSED(cufftResult, cufftXtExecDescriptorC2C)
MEMSIM_REFUSED(cufftResult, cufftXtExecDescriptorZ2Z)
