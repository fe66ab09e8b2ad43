// Names and texts of errors, and the error of the last call that failed.
#pragma once

#include "attributes.h"
#include "error_codes.h"

MEMSIM_CUDA const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define MEMSIM_ERROR(name, number, text)                                                                               \
    case name: return text;
#include "error_list.h"
#undef MEMSIM_ERROR
    }
    return "unrecognized error code";
}
MEMSIM_CUDA const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define MEMSIM_ERROR(name, number, text)                                                                               \
    case name: return #name;
#include "error_list.h"
#undef MEMSIM_ERROR
    }
    return "unrecognized error code";
}

inline cudaError_t memsim_last_error = cudaSuccess;
MEMSIM_CUDA cudaError_t memsim_result(cudaError_t error) {
    if (error != cudaSuccess) memsim_last_error = error;
    return error;
}
