// The built-in variables. Plain globals: whoever resumes a thread sets them.
#pragma once

#include "vectors.h"

MEMSIM_CUDA_VARIABLE uint3 threadIdx{0, 0, 0};
MEMSIM_CUDA_VARIABLE uint3 blockIdx{0, 0, 0};
MEMSIM_CUDA_VARIABLE dim3 blockDim{1, 1, 1};
MEMSIM_CUDA_VARIABLE dim3 gridDim{1, 1, 1};
constexpr int warpSize = 32;
