// Asynchronous copies (CUDA C++ Programming Guide, "Asynchronous Data Copies"), done at once: a thread's are its own.
#pragma once

#include <stddef.h>

#include "cuda_runtime.h"
#include "memsim/watched.h"

#if defined(__clang__)
#pragma clang force_cuda_host_device begin
#endif

namespace cuda {

template <size_t Alignment>
struct aligned_size_t {
    size_t value;
    explicit __host__ __device__ constexpr aligned_size_t(size_t value) : value(value) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};

template <class To, class From, class Size, class Sync>
MEMSIM_CUDA_TEMPLATE void memcpy_async(To to, From from, Size bytes, Sync&) {
    memsim_probe::copy_watched(memsim_probe::watched(to), memsim_probe::watched(from), size_t(bytes));
}
template <class Group, class To, class From, class Size, class Sync>
MEMSIM_CUDA_TEMPLATE void memcpy_async(const Group& group, To to, From from, Size bytes, Sync&) {
    memsim_probe::copy_part(
        memsim_probe::watched(to), memsim_probe::watched(from), size_t(bytes), group.thread_rank(), group.size());
}

}  // namespace cuda

#if defined(__clang__)
#pragma clang force_cuda_host_device end
#endif
