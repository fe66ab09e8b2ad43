// Error codes of the CUDA runtime API, with their published numbers (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once

#define MEMSIM_ERRORS(each)                                                                                    \
    each(cudaSuccess, 0, "no error")                                                                           \
    each(cudaErrorInvalidValue, 1, "invalid argument")                                                         \
    each(cudaErrorMemoryAllocation, 2, "out of memory")                                                        \
    each(cudaErrorInitializationError, 3, "initialization error")                                              \
    each(cudaErrorCudartUnloading, 4, "driver shutting down")                                                  \
    each(cudaErrorProfilerDisabled, 5, "profiler disabled")                                                    \
    each(cudaErrorProfilerNotInitialized, 6, "profiler not initialized")                                       \
    each(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                       \
    each(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                       \
    each(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                   \
    each(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                             \
    each(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                  \
    each(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                              \
    each(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                          \
    each(cudaErrorInvalidTexture, 18, "invalid texture reference")                                             \
    each(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                              \
    each(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                  \
    each(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                             \
    each(cudaErrorAddressOfConstant, 22, "invalid address of constant")                                        \
    each(cudaErrorTextureFetchFailed, 23, "fetch from texture failed")                                         \
    each(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound")                        \
    each(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()")                                \
    each(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")               \
    each(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for 32-bit non float type")  \
    each(cudaErrorMixedDeviceExecution, 28, "device emulation mode and device execution mode cannot be mixed") \
    each(cudaErrorNotYetImplemented, 31, "feature not yet implemented")                                        \
    each(cudaErrorMemoryValueTooLarge, 32, "memory size or pointer value too large to fit in 32 bit")          \
    each(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                            \
    each(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")      \
    each(cudaErrorSetOnActiveProcess, 36, "cannot set while device is active in this process")                 \
    each(cudaErrorInvalidSurface, 37, "invalid surface reference")                                             \
    each(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name")             \
    each(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")                      \
    each(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")                      \
    each(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                 \
    each(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                                \
    each(cudaErrorMissingConfiguration, 52, "missing configuration")                                           \
    each(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")                        \
    each(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth")                             \
    each(cudaErrorLaunchFileScopedTex, 66, "launch failed because kernel uses unsupported, module-level textures") \
    each(cudaErrorLaunchFileScopedSurf, 67, "launch failed because kernel uses unsupported, module-level surfaces") \
    each(cudaErrorSyncDepthExceeded, 68, "cudaDeviceSynchronize failed because the limit was exceeded")        \
    each(cudaErrorLaunchPendingCountExceeded, 69, "launch failed because launch would exceed the pending count") \
    each(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                        \
    each(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                         \
    each(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                \
    each(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                                      \
    each(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                   \
    each(cudaErrorDeviceUninitialized, 201, "invalid device context")                                          \
    each(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                               \
    each(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")                           \
    each(cudaErrorArrayIsMapped, 207, "array is mapped")                                                       \
    each(cudaErrorAlreadyMapped, 208, "resource already mapped")                                               \
    each(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")     \
    each(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                           \
    each(cudaErrorNotMapped, 211, "resource not mapped")                                                       \
    each(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                                       \
    each(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                                   \
    each(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                \
    each(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                        \
    each(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread")     \
    each(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")        \
    each(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                             \
    each(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context")                            \
    each(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")        \
    each(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                              \
    each(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                        \
    each(cudaErrorFileNotFound, 301, "file not found")                                                         \
    each(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                           \
    each(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")                          \
    each(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                \
    each(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                       \
    each(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                 \
    each(cudaErrorSymbolNotFound, 500, "named symbol not found")                                               \
    each(cudaErrorNotReady, 600, "device not ready")                                                           \
    each(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                             \
    each(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                        \
    each(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                               \
    each(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")                 \
    each(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                             \
    each(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                               \
    each(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                             \
    each(cudaErrorAssert, 710, "device-side assert triggered")                                                 \
    each(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                                       \
    each(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    each(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")   \
    each(cudaErrorHardwareStackError, 714, "hardware stack error")                                             \
    each(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                           \
    each(cudaErrorMisalignedAddress, 716, "misaligned address")                                                \
    each(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")          \
    each(cudaErrorInvalidPc, 718, "invalid program counter")                                                   \
    each(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                            \
    each(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                     \
    each(cudaErrorNotPermitted, 800, "operation not permitted")                                                \
    each(cudaErrorNotSupported, 801, "operation not supported")                                                \
    each(cudaErrorSystemNotReady, 802, "system not yet initialized")                                           \
    each(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
    each(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")           \
    each(cudaErrorUnknown, 999, "unknown error")                                                               \
    each(cudaErrorApiFailureBase, 10000, "api failure base")

enum cudaError {
#define MEMSIM_ENTRY(name, number, text) name = number,
    MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
};
typedef enum cudaError cudaError_t;
