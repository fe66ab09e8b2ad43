// The same copies for C (CUDA C++ Programming Guide, "Pipeline Primitives Interface").
#pragma once

#include "cuda/copies.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

template <class To, class From>
MEMSIM_CUDA_TEMPLATE void __pipeline_memcpy_async(To to, From from, size_t bytes, size_t zeroed = 0) {
    auto target = memsim_probe::watched(to);
    memsim_probe::copy_watched(target, memsim_probe::watched(from), bytes - zeroed);
    if (zeroed) memset(reinterpret_cast<char*>(target.pointer) + bytes - zeroed, 0, zeroed);
}
MEMSIM_CUDA void __pipeline_commit() {}
MEMSIM_CUDA void __pipeline_wait_prior(size_t) {}

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
