// A header of torch that its CPU build lacks.
#pragma once
#define C10_CUDA_BUILD_SHARED_LIBS
