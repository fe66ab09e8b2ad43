// Streams and events of the CUDA runtime API.
#pragma once

#include "device_api.h"

// Streams: everything is done when a call returns, so they need only differ.
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
MEMSIM_CUDA cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    static size_t made = 16;
    return *stream = reinterpret_cast<cudaStream_t>(made++), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
MEMSIM_CUDA cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
    return cudaStreamCreate(stream);
}
MEMSIM_CUDA cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) { return *flags = 0, cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { return *priority = 0, cudaSuccess; }
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);
typedef void (*cudaHostFn_t)(void*);
MEMSIM_CUDA cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                              unsigned) {
    return memsim_probe::in_order(cudaGraphNodeTypeHost,
                                  [=] { return callback(stream, cudaSuccess, data), cudaSuccess; });
}
MEMSIM_CUDA cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
    return memsim_probe::in_order(cudaGraphNodeTypeHost, [=] { return function(data), cudaSuccess; });
}

struct CUevent_st {
    float milliseconds;
};
MEMSIM_CUDA cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return *event = static_cast<cudaEvent_t>(calloc(1, sizeof(CUevent_st))), cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
MEMSIM_CUDA cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
MEMSIM_CUDA cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!memsim_probe::block.inside()) free(event);  // as cudaFree()
    return cudaSuccess;
}
MEMSIM_CUDA cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
    return memsim_probe::in_order(cudaGraphNodeTypeEventRecord,
                                  [=] { return event->milliseconds = memsim_probe::milliseconds(), cudaSuccess; });
}
MEMSIM_CUDA cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t = nullptr, unsigned = 0) {
    return cudaEventRecord(event);
}
MEMSIM_CUDA cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
MEMSIM_CUDA cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    return *milliseconds = stop->milliseconds - start->milliseconds, cudaSuccess;
}
