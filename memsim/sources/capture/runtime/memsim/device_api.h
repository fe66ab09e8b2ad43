// Devices and errors of the CUDA runtime API. There is one device, and everything is done at once.
#pragma once

#include <time.h>

#include "device_properties.h"
#include "device_types.h"
#include "launch.h"
#include "memory_api.h"
#include "occupancy.h"

namespace memsim_probe {

// An imaginary GPU of compute capability 8.0, to answer what programs ask before they launch.
inline void describe_device(cudaDeviceProp* p) {
    *p = {};
    snprintf(p->name, sizeof p->name, "memsim (kernels run on the host)");
    p->totalGlobalMem = Arena::capacity;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 163 << 10;
    p->sharedMemPerMultiprocessor = 164 << 10;
    p->reservedSharedMemPerBlock = 1 << 10;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = 0x7FFFFFFF;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7FFFFFFF;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 64 << 10;
    p->major = 8;
    p->textureAlignment = pitch_unit;
    p->texturePitchAlignment = 32;
    p->clockRate = 1000000;  // kHz: clock64() counts nanoseconds
    p->memoryClockRate = 1200000;
    p->memoryBusWidth = 5120;
    p->l2CacheSize = 40 << 20;
    p->persistingL2CacheMaxSize = 30 << 20;
    p->accessPolicyMaxWindowSize = 128 << 20;
    p->multiProcessorCount = host_multiprocessors;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->maxTexture1D = p->maxTexture2D[0] = p->maxTexture2D[1] = 1 << 16;
    p->maxTexture1DLinear = 1 << 28;
    p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
    p->asyncEngineCount = p->globalL1CacheSupported = p->localL1CacheSupported = p->concurrentManagedAccess = 1;
    p->streamPrioritiesSupported = p->computePreemptionSupported = p->memoryPoolsSupported = 1;
    p->cooperativeLaunch = 1;
    p->hostRegisterSupported = p->hostRegisterReadOnlySupported = 1;
    p->deviceNumaId = p->hostNumaId = -1;
}

inline int device_attribute(cudaDeviceAttr which) {
    cudaDeviceProp p;
    describe_device(&p);
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: return 1024;
        case cudaDevAttrMaxBlockDimZ: return 64;
        case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: return 65535;
        case cudaDevAttrMaxSharedMemoryPerBlock: return p.sharedMemPerBlock;
        case cudaDevAttrTotalConstantMemory: return p.totalConstMem;
        case cudaDevAttrWarpSize: return 32;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
        case cudaDevAttrClockRate: return p.clockRate;
        case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
        case cudaDevAttrMemoryClockRate: return p.memoryClockRate;
        case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
        case cudaDevAttrL2CacheSize: return p.l2CacheSize;
        case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
        case cudaDevAttrComputeCapabilityMajor: return p.major;
        case cudaDevAttrComputeCapabilityMinor: return p.minor;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return p.sharedMemPerMultiprocessor;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: return p.sharedMemPerBlockOptin;
        case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
        case cudaDevAttrTextureAlignment: return p.textureAlignment;
        case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
        case cudaDevAttrGpuOverlap:
        case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrHostRegisterSupported:
        case cudaDevAttrMemoryPoolsSupported: return 1;
        default: return 0;
    }
}

inline float milliseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    static const time_t start = now.tv_sec;
    return (now.tv_sec - start) * 1e3f + now.tv_nsec * 1e-6f;
}

}  // namespace memsim_probe

MEMSIM_CUDA cudaError_t memsim_peek() {
    if (memsim_probe::launch_error) memsim_last_error = memsim_probe::launch_error;
    memsim_probe::launch_error = cudaSuccess;
    return memsim_last_error;
}
MEMSIM_CUDA cudaError_t cudaPeekAtLastError() { return memsim_peek(); }
MEMSIM_CUDA cudaError_t cudaGetLastError() {
    cudaError_t error = memsim_peek();
    memsim_last_error = cudaSuccess;
    return error;
}

#define MEMSIM_DONE(name, ...)                                                                                         \
    MEMSIM_CUDA cudaError_t name(__VA_ARGS__) { return cudaSuccess; }
MEMSIM_DONE(cudaDeviceSynchronize)
MEMSIM_DONE(cudaThreadSynchronize)
MEMSIM_DONE(cudaDeviceReset)
MEMSIM_DONE(cudaThreadExit)
MEMSIM_DONE(cudaSetDeviceFlags, unsigned)
MEMSIM_DONE(cudaInitDevice, int, unsigned, unsigned)
MEMSIM_DONE(cudaDeviceSetCacheConfig, cudaFuncCache)
MEMSIM_DONE(cudaThreadSetCacheConfig, cudaFuncCache)
MEMSIM_DONE(cudaDeviceSetSharedMemConfig, cudaSharedMemConfig)
MEMSIM_DONE(cudaDeviceSetLimit, cudaLimit, size_t)
MEMSIM_DONE(cudaDeviceEnablePeerAccess, int, unsigned)
MEMSIM_DONE(cudaDeviceDisablePeerAccess, int)
MEMSIM_DONE(cudaProfilerStart)
MEMSIM_DONE(cudaProfilerStop)
MEMSIM_DONE(cudaCtxResetPersistingL2Cache)
MEMSIM_DONE(cudaStreamSetAttribute, cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*)
MEMSIM_DONE(cudaStreamDestroy, cudaStream_t)
MEMSIM_DONE(cudaStreamSynchronize, cudaStream_t)
MEMSIM_DONE(cudaStreamQuery, cudaStream_t)
#undef MEMSIM_DONE

// Since Maxwell the bank size is fixed, and what a program prefers of L1 and shared memory is a hint.
MEMSIM_CUDA cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return *config = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return *config = cudaFuncCachePreferNone, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaSetDevice(int device) {
    return memsim_result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
MEMSIM_CUDA cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
    return *value = 0, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int) {
    return snprintf(id, length, "0000:00:00.0"), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12000, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = cudaDeviceMapHost, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { return *value = 8 << 20, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* most) {
    return *least = 0, *most = -5, cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    memsim_probe::describe_device(properties);
    return cudaSetDevice(device);
}
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties
MEMSIM_CUDA cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
    *value = memsim_probe::device_attribute(which);
    return cudaSetDevice(device);
}
