// The type of errors, in C and C++ alike.
#pragma once

enum cudaError {
#define MEMSIM_ERROR(name, number, text) name = number,
#include "error_list.h"
#undef MEMSIM_ERROR
};
typedef enum cudaError cudaError_t;
