// The functions that host files in C may call: each(result, name, parameters, arguments). C++ defines them under other names,
// to which C's declarations are bound.
#define MEMSIM_C_FUNCTIONS(each)                                                                                         \
    each(cudaError_t, memsim_allocate, (const char* text, void** pointer, size_t bytes, unsigned flags),                 \
         (text, pointer, bytes, flags))                                                                                  \
    each(cudaError_t, cudaFree, (void* pointer), (pointer))                                                              \
    each(cudaError_t, cudaFreeHost, (void* pointer), (pointer))                                                          \
    each(cudaError_t, cudaMemcpy, (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind),                  \
         (to, from, bytes, kind))                                                                                        \
    each(cudaError_t, cudaMemcpyAsync,                                                                                   \
         (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),                      \
         (to, from, bytes, kind, stream))                                                                                \
    each(cudaError_t, cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))                               \
    each(cudaError_t, cudaMemGetInfo, (size_t* free, size_t* total), (free, total))                                      \
    each(cudaError_t, cudaSetDevice, (int device), (device))                                                             \
    each(cudaError_t, cudaGetDevice, (int* device), (device))                                                            \
    each(cudaError_t, cudaGetDeviceCount, (int* count), (count))                                                         \
    each(cudaError_t, cudaGetDeviceProperties, (cudaDeviceProp* properties, int device), (properties, device))           \
    each(cudaError_t, cudaSetDeviceFlags, (unsigned flags), (flags))                                                     \
    each(cudaError_t, cudaDeviceSynchronize, (void), ())                                                                 \
    each(cudaError_t, cudaThreadSynchronize, (void), ())                                                                 \
    each(cudaError_t, cudaDeviceReset, (void), ())                                                                       \
    each(cudaError_t, cudaThreadExit, (void), ())                                                                        \
    each(cudaError_t, cudaGetLastError, (void), ())                                                                      \
    each(cudaError_t, cudaPeekAtLastError, (void), ())                                                                   \
    each(const char*, cudaGetErrorString, (cudaError_t error), (error))                                                  \
    each(const char*, cudaGetErrorName, (cudaError_t error), (error))                                                    \
    each(cudaError_t, cudaStreamCreate, (cudaStream_t* stream), (stream))                                                \
    each(cudaError_t, cudaStreamDestroy, (cudaStream_t stream), (stream))                                                \
    each(cudaError_t, cudaStreamSynchronize, (cudaStream_t stream), (stream))                                            \
    each(cudaError_t, cudaEventCreate, (cudaEvent_t* event), (event))                                                    \
    each(cudaError_t, cudaEventDestroy, (cudaEvent_t event), (event))                                                    \
    each(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))                        \
    each(cudaError_t, cudaEventSynchronize, (cudaEvent_t event), (event))                                                \
    each(cudaError_t, cudaEventElapsedTime, (float* milliseconds, cudaEvent_t start, cudaEvent_t stop), (milliseconds, start, stop))

#ifdef __cplusplus

inline cudaError_t memsim_allocate(const char* text, void** pointer, size_t bytes, unsigned flags) {
    return memsim_probe::allocate_flags(text, pointer, bytes, flags);
}

// Emitted by every file of the program, kept once by the linker.
#define MEMSIM_DEFINE(result, name, parameters, arguments) \
    extern "C" __attribute__((weak, used)) result memsim_c_##name parameters { return name arguments; }
MEMSIM_C_FUNCTIONS(MEMSIM_DEFINE)
#undef MEMSIM_DEFINE

#else

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_properties.h"
#include "error_codes.h"
#include "vectors.h"

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
#define MEMSIM_DECLARE(result, name, parameters, arguments) result name parameters __asm__("memsim_c_" #name);
MEMSIM_C_FUNCTIONS(MEMSIM_DECLARE)
#undef MEMSIM_DECLARE

#define cudaMalloc(pointer, bytes) memsim_allocate(#pointer, pointer, bytes, 0)
#define cudaMallocHost(pointer, bytes) memsim_allocate(#pointer, pointer, bytes, 0)
#define cudaMallocManaged(pointer, bytes, flags) memsim_allocate(#pointer, pointer, bytes, flags)
#define cudaHostAlloc(pointer, bytes, flags) memsim_allocate(#pointer, pointer, bytes, flags)

#endif
#undef MEMSIM_C_FUNCTIONS
