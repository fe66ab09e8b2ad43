// Built-in vector types (CUDA C++ Programming Guide, "Built-in Vector Types"): aggregates with CUDA's alignments.
#pragma once

#include "attributes.h"

#define MEMSIM_VECTOR(name, type, align2, align4)                                                              \
    struct name##1 { type x; };                                                                                \
    struct __attribute__((aligned(align2))) name##2 { type x, y; };                                            \
    struct name##3 { type x, y, z; };                                                                          \
    struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                      \
    MEMSIM_CUDA constexpr name##1 make_##name##1(type x) { return {x}; }                                       \
    MEMSIM_CUDA constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                            \
    MEMSIM_CUDA constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                 \
    MEMSIM_CUDA constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

MEMSIM_VECTOR(char, signed char, 2, 4)
MEMSIM_VECTOR(uchar, unsigned char, 2, 4)
MEMSIM_VECTOR(short, short, 4, 8)
MEMSIM_VECTOR(ushort, unsigned short, 4, 8)
MEMSIM_VECTOR(int, int, 8, 16)
MEMSIM_VECTOR(uint, unsigned int, 8, 16)
MEMSIM_VECTOR(long, long, 16, 16)
MEMSIM_VECTOR(ulong, unsigned long, 16, 16)
MEMSIM_VECTOR(longlong, long long, 16, 16)
MEMSIM_VECTOR(ulonglong, unsigned long long, 16, 16)
MEMSIM_VECTOR(float, float, 8, 16)
MEMSIM_VECTOR(double, double, 16, 16)
#undef MEMSIM_VECTOR

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
