// Devices, streams, events and launches of the CUDA runtime API. There is one device, and everything is done at once.
#pragma once

#include <time.h>

#include "device_properties.h"
#include "launch.h"
#include "memory_api.h"

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
    cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ, cudaDevAttrMaxSharedMemoryPerBlock,
    cudaDevAttrTotalConstantMemory, cudaDevAttrWarpSize, cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate,
    cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap, cudaDevAttrMultiProcessorCount, cudaDevAttrKernelExecTimeout,
    cudaDevAttrIntegrated, cudaDevAttrCanMapHostMemory, cudaDevAttrComputeMode, cudaDevAttrConcurrentKernels = 31, cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrL2CacheSize, cudaDevAttrMaxThreadsPerMultiProcessor, cudaDevAttrAsyncEngineCount,
    cudaDevAttrUnifiedAddressing,
    cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrManagedMemory, cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess,
    cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaLimit {
    cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize
};
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow { void* base_ptr; size_t num_bytes; float hitRatio; cudaAccessProperty hitProp, missProp; };
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1, cudaStreamAttributeSynchronizationPolicy = 3 };
struct cudaStreamAttrValue { cudaAccessPolicyWindow accessPolicyWindow; };
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1, cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported, cudaDevP2PAttrCudaArrayAccessSupported
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum { cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4,
       cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventBlockingSync = 1,
       cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

namespace memsim_probe {

constexpr int host_multiprocessors = 80;

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
    p->streamPrioritiesSupported = p->computePreemptionSupported = 1;
}

inline int device_attribute(cudaDeviceAttr which) {
    cudaDeviceProp p;
    describe_device(&p);
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: return 1024;
        case cudaDevAttrMaxBlockDimZ: return 64;
        case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
        case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: return 65535;
        case cudaDevAttrMaxSharedMemoryPerBlock: return p.sharedMemPerBlock;
        case cudaDevAttrTotalConstantMemory: return p.totalConstMem;
        case cudaDevAttrWarpSize: return 32;
        case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
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
        case cudaDevAttrGpuOverlap: case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrConcurrentKernels: case cudaDevAttrUnifiedAddressing: case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess: case cudaDevAttrMemoryPoolsSupported: return 1;
        default: return 0;
    }
}

inline float milliseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    static const time_t start = now.tv_sec;
    return (now.tv_sec - start) * 1e3f + now.tv_nsec * 1e-6f;
}

// Threads that occupy an SM at most: of a block size and its shared bytes, registers unknown.
inline int blocks_per_sm(int threads, size_t shared_bytes) {
    if (threads <= 0 || threads > 1024) return 0;
    int blocks = 2048 / ((threads + 31) / 32 * 32);
    if (shared_bytes && blocks * shared_bytes > 164 << 10) blocks = (164 << 10) / shared_bytes;
    return blocks < 32 ? blocks : 32;
}

}  // namespace memsim_probe

MEMSIM_CUDA cudaError_t memsim_peek() {
    if (memsim_probe::launch_error) memsim_last_error = static_cast<cudaError_t>(memsim_probe::launch_error);
    memsim_probe::launch_error = 0;
    return memsim_last_error;
}
MEMSIM_CUDA cudaError_t cudaPeekAtLastError() { return memsim_peek(); }
MEMSIM_CUDA cudaError_t cudaGetLastError() {
    cudaError_t error = memsim_peek();
    memsim_last_error = cudaSuccess;
    return error;
}

#define MEMSIM_DONE(name, ...) MEMSIM_CUDA cudaError_t name(__VA_ARGS__) { return cudaSuccess; }
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

MEMSIM_CUDA cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaSetDevice(int device) { return memsim_result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
MEMSIM_CUDA cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) { return *value = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDriverGetVersion(int* version) { return *version = 12000, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12000, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = cudaDeviceMapHost, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { return *value = 8 << 20, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* most) { return *least = 0, *most = -5, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    memsim_probe::describe_device(properties);
    return cudaSetDevice(device);
}
MEMSIM_CUDA cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
    *value = memsim_probe::device_attribute(which);
    return cudaSetDevice(device);
}

// Streams: everything is done when a call returns, so they need only differ.
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
MEMSIM_CUDA cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    static size_t made = 16;
    return *stream = reinterpret_cast<cudaStream_t>(made++), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
MEMSIM_CUDA cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);
typedef void (*cudaHostFn_t)(void*);
MEMSIM_CUDA cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
    return callback(stream, cudaSuccess, data), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) { return function(data), cudaSuccess; }

struct CUevent_st { float milliseconds; };
typedef CUevent_st* cudaEvent_t;
MEMSIM_CUDA cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return *event = static_cast<cudaEvent_t>(calloc(1, sizeof(CUevent_st))), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
MEMSIM_CUDA cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
MEMSIM_CUDA cudaError_t cudaEventDestroy(cudaEvent_t event) { return free(event), cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
    return event->milliseconds = memsim_probe::milliseconds(), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t = nullptr, unsigned = 0) { return cudaEventRecord(event); }
MEMSIM_CUDA cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    return *milliseconds = stop->milliseconds - start->milliseconds, cudaSuccess;
}

// Kernels: attributes and occupancy.
template <class K>
inline cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) { return cudaSuccess; }
template <class K>
inline cudaError_t cudaFuncSetSharedMemConfig(K*, cudaSharedMemConfig) { return cudaSuccess; }
template <class K>
inline cudaError_t cudaFuncSetAttribute(K*, cudaFuncAttribute, int) { return cudaSuccess; }
template <class K>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, K*) {
    *out = {0, 0, 0, 1024, 32, 80, 80, 0, 48 << 10, -1};
    return cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K*, int threads, size_t shared_bytes) {
    return *blocks = memsim_probe::blocks_per_sm(threads, shared_bytes), cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K*, int threads, size_t shared_bytes, unsigned) {
    return *blocks = memsim_probe::blocks_per_sm(threads, shared_bytes), cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* threads, K*, size_t = 0, int limit = 0) {
    *threads = limit > 0 && limit < 1024 ? limit : 1024;
    *grid = memsim_probe::host_multiprocessors * memsim_probe::blocks_per_sm(*threads, 0);
    return cudaSuccess;
}
template <class F, class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* threads, K* kernel, F, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, kernel, 0, limit);
}

// A launch from an array of pointers to the arguments.
namespace memsim_probe {
template <size_t... I> struct Indices {};
template <size_t N, size_t... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <size_t... I> struct MakeIndices<0, I...> { using Type = Indices<I...>; };

template <class... P, size_t... I>
void launch_from(const Place& at, const Shape& shape, void (*kernel)(P...), void** arguments, Indices<I...>) {
    (void)arguments;
    auto body = [=](std::remove_const_t<P>... values) {
        auto each = [&] { kernel(values...); };
        run_grid(at, shape, each);
    };
    body(*static_cast<std::remove_const_t<P>*>(arguments[I])...);
}
template <class... P>
cudaError_t launch_kernel(const Place& at, void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared_bytes) {
    launch_from(at, {grid, block, shared_bytes}, kernel, arguments, typename MakeIndices<sizeof...(P)>::Type{});
    return memsim_peek();
}
inline cudaError_t launch_kernel(const Place& at, const void*, dim3, dim3, void**, size_t) {
    fail("%s:%d: cudaLaunchKernel() of a kernel whose type is not known here (cast to void*)", at.file, at.line);
}
}  // namespace memsim_probe

template <class K>
inline cudaError_t cudaLaunchKernel(K kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0, cudaStream_t = nullptr) {
    return memsim_probe::launch_kernel({"kernel", "", 0}, kernel, grid, block, arguments, shared_bytes);
}
// Blocks run one after another: a cooperative launch works as long as no thread waits for another block.
template <class K>
inline cudaError_t cudaLaunchCooperativeKernel(K kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                               cudaStream_t stream = nullptr) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
#if !defined(__clang__)
template <class K>
inline cudaError_t memsim_launch_kernel(const char* name, const char* file, int line, K kernel, dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes = 0, cudaStream_t = nullptr) {
    return memsim_probe::launch_kernel({name, file, line}, kernel, grid, block, arguments, shared_bytes);
}
#define cudaLaunchKernel(kernel, ...) memsim_launch_kernel(#kernel, __FILE__, __LINE__, kernel, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(kernel, ...) memsim_launch_kernel(#kernel, __FILE__, __LINE__, kernel, __VA_ARGS__)
#endif

// How clang understands <<<...>>>.
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
