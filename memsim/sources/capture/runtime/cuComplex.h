// Complex numbers (cuComplex.h of the CUDA toolkit).
#pragma once

#include "cuda_runtime.h"
#include "memsim/math.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// The functions of one precision: `f` is its letter in their names.
#define MEMSIM_COMPLEX(complex, real, f)                                                                               \
    MEMSIM_CUDA complex make_##complex(real x, real y) { return {x, y}; }                                              \
    MEMSIM_CUDA real cuCreal##f(complex a) { return a.x; }                                                             \
    MEMSIM_CUDA real cuCimag##f(complex a) { return a.y; }                                                             \
    MEMSIM_CUDA complex cuConj##f(complex a) { return {a.x, -a.y}; }                                                   \
    MEMSIM_CUDA complex cuCadd##f(complex a, complex b) { return {a.x + b.x, a.y + b.y}; }                             \
    MEMSIM_CUDA complex cuCsub##f(complex a, complex b) { return {a.x - b.x, a.y - b.y}; }                             \
    MEMSIM_CUDA complex cuCmul##f(complex a, complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }     \
    MEMSIM_CUDA complex cuCdiv##f(complex a, complex b) {                                                              \
        real n = b.x * b.x + b.y * b.y;                                                                                \
        return {(a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n};                                             \
    }                                                                                                                  \
    MEMSIM_CUDA complex cuCfma##f(complex a, complex b, complex c) { return cuCadd##f(cuCmul##f(a, b), c); }           \
    MEMSIM_CUDA real cuCabs##f(complex a) { return sqrt(a.x * a.x + a.y * a.y); }
MEMSIM_COMPLEX(cuFloatComplex, float, f)
MEMSIM_COMPLEX(cuDoubleComplex, double, )
#undef MEMSIM_COMPLEX
MEMSIM_CUDA cuComplex make_cuComplex(float x, float y) { return {x, y}; }
MEMSIM_CUDA cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
MEMSIM_CUDA cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return {static_cast<float>(a.x), static_cast<float>(a.y)};
}

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
