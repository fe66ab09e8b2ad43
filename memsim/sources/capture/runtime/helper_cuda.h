// Error checks and the choice of a device, as NVIDIA's samples call them.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime.h"
#include "helper_string.h"

template <class T>
inline void memsim_check(T result, const char* call, const char* file, int line) {
    if (!result) return;
    fprintf(stderr, "%s:%d: %s: error %d\n", file, line, call, static_cast<int>(result));
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) memsim_check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) memsim_check(cudaGetLastError(), message, __FILE__, __LINE__)
#define printLastCudaError(message) (void)(message)
inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }
inline int _ConvertSMVer2Cores(int, int) { return 64; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "Ampere"; }
inline int gpuDeviceInit(int) { return 0; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int, const char**) { return 0; }
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) { return major < 8 || (major == 8 && minor == 0); }
