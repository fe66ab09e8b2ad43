// Built-in vector types (CUDA C++ Programming Guide, "Built-in Vector Types"): aggregates with CUDA's alignments.
#pragma once

#include "attributes.h"

#ifdef __cplusplus
#define MEMSIM_CONSTEXPR constexpr
#else
#define MEMSIM_CONSTEXPR
#endif

#define MEMSIM_VECTOR(name, type, align2, align4)                                                                      \
    typedef struct name##1 { type x; }                                                                                 \
    name##1;                                                                                                           \
    typedef struct __attribute__((aligned(align2))) name##2 { type x, y; }                                             \
    name##2;                                                                                                           \
    typedef struct name##3 { type x, y, z; }                                                                           \
    name##3;                                                                                                           \
    typedef struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; }                                       \
    name##4;                                                                                                           \
    MEMSIM_CUDA MEMSIM_CONSTEXPR name##1 make_##name##1(type x) {                                                      \
        name##1 v = {x};                                                                                               \
        return v;                                                                                                      \
    }                                                                                                                  \
    MEMSIM_CUDA MEMSIM_CONSTEXPR name##2 make_##name##2(type x, type y) {                                              \
        name##2 v = {x, y};                                                                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    MEMSIM_CUDA MEMSIM_CONSTEXPR name##3 make_##name##3(type x, type y, type z) {                                      \
        name##3 v = {x, y, z};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    MEMSIM_CUDA MEMSIM_CONSTEXPR name##4 make_##name##4(type x, type y, type z, type w) {                              \
        name##4 v = {x, y, z, w};                                                                                      \
        return v;                                                                                                      \
    }

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

// Of 32 bytes, by their alignment (CUDA 13).
#define MEMSIM_VECTOR_ALIGNED(name, type, bytes)                                                                       \
    typedef struct __attribute__((aligned(bytes))) name##4_##bytes##a { type x, y, z, w; }                             \
    name##4_##bytes##a;                                                                                                \
    MEMSIM_CUDA MEMSIM_CONSTEXPR name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, type w) {        \
        name##4_##bytes##a v = {x, y, z, w};                                                                           \
        return v;                                                                                                      \
    }
#define MEMSIM_VECTOR_ALIGNMENTS(name, type)                                                                           \
    MEMSIM_VECTOR_ALIGNED(name, type, 16)                                                                              \
    MEMSIM_VECTOR_ALIGNED(name, type, 32)
MEMSIM_VECTOR_ALIGNMENTS(long, long)
MEMSIM_VECTOR_ALIGNMENTS(ulong, unsigned long)
MEMSIM_VECTOR_ALIGNMENTS(longlong, long long)
MEMSIM_VECTOR_ALIGNMENTS(ulonglong, unsigned long long)
MEMSIM_VECTOR_ALIGNMENTS(double, double)
#undef MEMSIM_VECTOR_ALIGNMENTS
#undef MEMSIM_VECTOR_ALIGNED

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif
