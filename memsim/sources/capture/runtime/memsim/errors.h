// Error codes of the CUDA runtime API, with their published numbers (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once

#include "attributes.h"

#define MEMSIM_ERRORS(each)                                                                                    \
    each(cudaSuccess, 0, "no error")                                                                           \
    each(cudaErrorInvalidValue, 1, "invalid argument")                                                         \
    each(cudaErrorMemoryAllocation, 2, "out of memory")                                                        \
    each(cudaErrorInitializationError, 3, "initialization error")                                              \
    each(cudaErrorCudartUnloading, 4, "driver shutting down")                                                  \
    each(cudaErrorProfilerDisabled, 5, "profiler disabled")                                                    \
    each(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                   \
    each(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                             \
    each(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                  \
    each(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                              \
    each(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                          \
    each(cudaErrorInvalidTexture, 18, "invalid texture reference")                                             \
    each(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                             \
    each(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")      \
    each(cudaErrorMissingConfiguration, 52, "missing configuration")                                           \
    each(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth")                             \
    each(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                        \
    each(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                         \
    each(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                \
    each(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")     \
    each(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                        \
    each(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                       \
    each(cudaErrorNotReady, 600, "device not ready")                                                           \
    each(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                             \
    each(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                        \
    each(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                               \
    each(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                             \
    each(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                               \
    each(cudaErrorAssert, 710, "device-side assert triggered")                                                 \
    each(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    each(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")   \
    each(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                            \
    each(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                     \
    each(cudaErrorNotPermitted, 800, "operation not permitted")                                                \
    each(cudaErrorNotSupported, 801, "operation not supported")                                                \
    each(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define MEMSIM_ENTRY(name, number, text) name = number,
    MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
};
typedef enum cudaError cudaError_t;

MEMSIM_CUDA const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define MEMSIM_ENTRY(name, number, text) case name: return text;
        MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
    }
    return "unrecognized error code";
}
MEMSIM_CUDA const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define MEMSIM_ENTRY(name, number, text) case name: return #name;
        MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
    }
    return "unrecognized error code";
}
#undef MEMSIM_ERRORS

// The sticky error of the last call or launch that failed.
inline cudaError_t memsim_last_error = cudaSuccess;
MEMSIM_CUDA cudaError_t memsim_result(cudaError_t error) {
    if (error != cudaSuccess) memsim_last_error = error;
    return error;
}
