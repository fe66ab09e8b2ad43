// The runtime API for host files in C: functions with C's names, beside those of the same names that C++ sees.
#pragma once

#ifdef __cplusplus

inline cudaError_t memsim_allocate(const char* text, void** pointer, size_t bytes, unsigned flags) {
    return memsim_probe::allocate_flags(text, pointer, bytes, flags);
}

// Emitted by every file of the program, kept once by the linker.
#define MEMSIM_C_FUNCTION(result, name, parameters, arguments)                                                         \
    extern "C" __attribute__((weak, used)) result memsim_c_##name parameters __asm__(#name);                           \
    result memsim_c_##name parameters { return name arguments; }
#include "c_function_list.h"
#undef MEMSIM_C_FUNCTION

#else

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_properties.h"
#include "error_codes.h"
#include "handles.h"
#include "vectors.h"

#define MEMSIM_C_FUNCTION(result, name, parameters, arguments) result name parameters;
#include "c_function_list.h"
#undef MEMSIM_C_FUNCTION

#define cudaMalloc(pointer, bytes) memsim_allocate(#pointer, pointer, bytes, 0)
#define cudaMallocHost(pointer, bytes) memsim_allocate(#pointer, pointer, bytes, 0)
#define cudaMallocManaged(pointer, bytes, flags) memsim_allocate(#pointer, pointer, bytes, flags)
#define cudaHostAlloc(pointer, bytes, flags) memsim_allocate(#pointer, pointer, bytes, flags)

#endif
