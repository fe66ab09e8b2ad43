// cuDNN (cuDNN documentation, "API Reference"): its types; what it computes is refused at the call.
#pragma once

#include "cuda_runtime.h"
#include "memsim/library_calls.h"

#define CUDNN_MAJOR 8
#define CUDNN_MINOR 9
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION 8900

typedef enum {
    CUDNN_STATUS_SUCCESS = 0,
    CUDNN_STATUS_NOT_INITIALIZED = 1,
    CUDNN_STATUS_ALLOC_FAILED = 2,
    CUDNN_STATUS_BAD_PARAM = 3,
    CUDNN_STATUS_INTERNAL_ERROR = 4,
    CUDNN_STATUS_INVALID_VALUE = 5,
    CUDNN_STATUS_ARCH_MISMATCH = 6,
    CUDNN_STATUS_MAPPING_ERROR = 7,
    CUDNN_STATUS_EXECUTION_FAILED = 8,
    CUDNN_STATUS_NOT_SUPPORTED = 9
} cudnnStatus_t;
typedef enum {
    CUDNN_DATA_FLOAT = 0,
    CUDNN_DATA_DOUBLE = 1,
    CUDNN_DATA_HALF = 2,
    CUDNN_DATA_INT8 = 3,
    CUDNN_DATA_INT32 = 4,
    CUDNN_DATA_BFLOAT16 = 9
} cudnnDataType_t;
typedef enum { CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW_VECT_C } cudnnTensorFormat_t;
typedef enum { CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION } cudnnConvolutionMode_t;
typedef enum {
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_DIRECT,
    CUDNN_CONVOLUTION_FWD_ALGO_FFT,
    CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_FWD_ALGO_COUNT
} cudnnConvolutionFwdAlgo_t;
typedef enum { CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG } cudnnSoftmaxAlgorithm_t;
typedef enum { CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL } cudnnSoftmaxMode_t;
typedef enum {
    CUDNN_ACTIVATION_SIGMOID,
    CUDNN_ACTIVATION_RELU,
    CUDNN_ACTIVATION_TANH,
    CUDNN_ACTIVATION_CLIPPED_RELU,
    CUDNN_ACTIVATION_ELU,
    CUDNN_ACTIVATION_IDENTITY
} cudnnActivationMode_t;
typedef enum { CUDNN_NOT_PROPAGATE_NAN, CUDNN_PROPAGATE_NAN } cudnnNanPropagation_t;
typedef enum { CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING } cudnnPoolingMode_t;
typedef struct cudnnContext* cudnnHandle_t;
typedef struct cudnnTensorStruct* cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct* cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct* cudnnConvolutionDescriptor_t;
typedef struct cudnnActivationStruct* cudnnActivationDescriptor_t;
typedef struct cudnnPoolingStruct* cudnnPoolingDescriptor_t;
typedef enum { CUDNN_NON_DETERMINISTIC, CUDNN_DETERMINISTIC } cudnnDeterminism_t;
typedef enum { CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, CUDNN_FMA_MATH } cudnnMathType_t;
typedef struct {
    cudnnConvolutionFwdAlgo_t algo;
    cudnnStatus_t status;
    float time;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
    int reserved[3];
} cudnnConvolutionFwdAlgoPerf_t;

inline const char* cudnnGetErrorString(cudnnStatus_t status) { return status ? "an error of cuDNN" : "CUDNN_STATUS_SUCCESS"; }
inline size_t cudnnGetVersion() { return CUDNN_VERSION; }
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreate)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroy)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetStream)
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreateTensorDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroyTensorDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetTensor4dDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetTensorNdDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreateFilterDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroyFilterDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetFilter4dDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreateConvolutionDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroyConvolutionDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetConvolution2dDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnGetConvolution2dForwardOutputDim)
MEMSIM_REFUSED(cudnnStatus_t, cudnnGetConvolutionForwardWorkspaceSize)
MEMSIM_REFUSED(cudnnStatus_t, cudnnGetConvolutionForwardAlgorithm_v7)
MEMSIM_REFUSED(cudnnStatus_t, cudnnFindConvolutionForwardAlgorithm)
MEMSIM_REFUSED(cudnnStatus_t, cudnnConvolutionForward)
MEMSIM_REFUSED(cudnnStatus_t, cudnnConvolutionBackwardData)
MEMSIM_REFUSED(cudnnStatus_t, cudnnConvolutionBackwardFilter)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSoftmaxForward)
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreateActivationDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroyActivationDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetActivationDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnActivationForward)
MEMSIM_REFUSED(cudnnStatus_t, cudnnCreatePoolingDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnDestroyPoolingDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetPooling2dDescriptor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnPoolingForward)
MEMSIM_REFUSED(cudnnStatus_t, cudnnAddTensor)
MEMSIM_REFUSED(cudnnStatus_t, cudnnGetConvolutionForwardAlgorithmMaxCount)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetConvolutionMathType)
MEMSIM_REFUSED(cudnnStatus_t, cudnnSetConvolutionGroupCount)
