// Names and texts of errors, and the error of the last call that failed.
#pragma once

#include "attributes.h"
#include "error_codes.h"

MEMSIM_CUDA const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define MEMSIM_ENTRY(name, number, text) case name: return text;
        MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
    }
    return "unrecognized error code";
}
MEMSIM_CUDA const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define MEMSIM_ENTRY(name, number, text) case name: return #name;
        MEMSIM_ERRORS(MEMSIM_ENTRY)
#undef MEMSIM_ENTRY
    }
    return "unrecognized error code";
}
#undef MEMSIM_ERRORS

inline cudaError_t memsim_last_error = cudaSuccess;
MEMSIM_CUDA cudaError_t memsim_result(cudaError_t error) {
    if (error != cudaSuccess) memsim_last_error = error;
    return error;
}
