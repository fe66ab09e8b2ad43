// Thrust's policies, and those of its CUDA back end, which mean the host's: streams run at once.
#pragma once

#include_next <thrust/execution_policy.h>

#include <thrust/system/cpp/execution_policy.h>

#include "cuda_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace cuda {

struct par_t : thrust::system::cpp::detail::par_t {
    const par_t& on(cudaStream_t) const { return *this; }
};

static const par_t par, par_nosync;

}  // namespace cuda
THRUST_NAMESPACE_END
