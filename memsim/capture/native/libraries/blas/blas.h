// What the files of the cuBLAS stand-in share. Numbers of enumerations are those of the cuBLAS documentation, "cuBLAS
// Datatypes Reference". Scalars are read through their pointers in both pointer modes: device memory is host memory.
#pragma once

#include <stdint.h>

#include "../common/data_types.h"
#include "../common/report.h"

namespace standin {

enum Status { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum Operation { OP_N = 0, OP_T = 1, OP_C = 2 };
enum Fill { LOWER = 0, UPPER = 1, FULL = 2 };
enum Side { LEFT = 0, RIGHT = 1 };

using C = Complex32;
using Z = Complex64;

// Where the i-th of n elements lies: with a negative increment the last one comes first (BLAS).
inline int64_t at(int64_t i, int64_t n, int64_t increment) {
    return increment < 0 ? (i - n + 1) * increment : i * increment;
}

inline int done() { return count_call(), SUCCESS; }

// A function of one type comes with 32-bit sizes and, with the suffix _64, with 64-bit sizes.
#define BOTH_SIZES(MACRO, name, type) MACRO(name, int, type) MACRO(name##_64, int64_t, type)
// Functions of the version 2 API carry the suffix _v2 in the library; those that are newer do not.
#define REAL_V2(MACRO, name) BOTH_SIZES(MACRO, cublasS##name##_v2, float) BOTH_SIZES(MACRO, cublasD##name##_v2, double)
#define COMPLEX_V2(MACRO, name) BOTH_SIZES(MACRO, cublasC##name##_v2, C) BOTH_SIZES(MACRO, cublasZ##name##_v2, Z)
#define ALL_V2(MACRO, name) REAL_V2(MACRO, name) COMPLEX_V2(MACRO, name)
#define ALL_PLAIN(MACRO, name)                                                                \
    BOTH_SIZES(MACRO, cublasS##name, float) BOTH_SIZES(MACRO, cublasD##name, double)          \
    BOTH_SIZES(MACRO, cublasC##name, C) BOTH_SIZES(MACRO, cublasZ##name, Z)

}  // namespace standin
